// A way to a STUN or TURN server: UDP, TCP or TLS.
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { bareHost } from '../operations/bare-host.ts'

/** A server, and how it is reached. */
export interface StunServer {
  readonly host: string
  readonly port: number
  readonly over: 'udp' | 'tcp' | 'tls'
}

/** The server cannot be used. */
export class StunFailure extends Error {
  override readonly name = 'StunFailure'
  /** What the operator can do. */
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

/** An open way to a server. */
export interface StunLink extends Disposable {
  /** Sends a message. @returns the answer with this id @throws StunFailure if none comes */
  ask(message: Buffer, id: Buffer): Promise<Buffer>
}

const ANSWER_WITHIN_MS = 10_000
const SENT_AGAIN_MS = 500
const HEADER_BYTES = 20
const OPEN_PORTS = 'check its address, whether it runs, and whether its ports are open for UDP and TCP'

/** The server of a URL by RFC 7064 or RFC 7065; undefined for TLS over UDP, which nothing here speaks. */
export function stunServerOf(url: string): StunServer | undefined {
  const match = /^(turns?|stuns?):(\[[^\]]+\]|[^:?]+)(?::(\d+))?(?:\?transport=(udp|tcp))?$/.exec(url)
  const [, scheme = '', name = '', port, transport] = match ?? []
  const isSecure = scheme.endsWith('s')
  if (isSecure && transport === 'udp') return undefined
  return {
    host: bareHost(name),
    port: port === undefined ? (isSecure ? 5349 : 3478) : Number(port),
    over: isSecure ? 'tls' : transport === 'tcp' ? 'tcp' : 'udp',
  }
}

/** Opens a way to a server. @throws StunFailure */
export async function openStunLink(server: StunServer): Promise<StunLink> {
  return server.over === 'udp' ? await openUdp(server) : await openStream(server)
}

async function openUdp({ host, port }: StunServer): Promise<StunLink> {
  const { address, family } = await lookup(host).catch((error) => {
    throw new StunFailure(`no address of ${host} can be found (${error.code})`, OPEN_PORTS)
  })
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  const waiting = new Waiting()
  socket.on('message', (message) => waiting.take(message))
  socket.on('error', (error) => waiting.fail(error.message))
  return {
    ask: async (message, id) => {
      const send = (): void => socket.send(message, port, address)
      const again = setInterval(send, SENT_AGAIN_MS)
      try {
        send()
        return await waiting.forAnswer(id)
      } finally {
        clearInterval(again)
      }
    },
    [Symbol.dispose]: () => socket.close(),
  }
}

async function openStream({ host, port, over }: StunServer): Promise<StunLink> {
  const waiting = new Waiting()
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const socket: Socket =
    over === 'tls' ? connectTls({ host, port, ...servername }) : connectTcp({ host, port })
  let received = Buffer.alloc(0)
  socket.on('data', (piece: Buffer) => {
    received = Buffer.concat([received, piece])
    while (received.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + received.readUInt16BE(2)
      if (received.length < end) return
      waiting.take(received.subarray(0, end))
      received = received.subarray(end)
    }
  })
  socket.on('error', (error) => waiting.fail(error.message))
  socket.on('close', () => waiting.fail('it closed the connection'))
  return {
    ask: (message, id) => {
      socket.write(message)
      return waiting.forAnswer(id)
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

// One message is under way at a time.
class Waiting {
  #failure: string | undefined
  #waiter: { id: Buffer; resolve: (message: Buffer) => void; fail: (reason: string) => void } | undefined

  take(message: Buffer): void {
    if (message.length < HEADER_BYTES || !this.#waiter?.id.equals(message.subarray(8, HEADER_BYTES))) return
    this.#waiter.resolve(message)
  }

  fail(reason: string): void {
    this.#failure ??= reason
    this.#waiter?.fail(this.#failure)
  }

  forAnswer(id: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void =>
        reject(new StunFailure(`it does not answer (${reason})`, OPEN_PORTS))
      const timer = setTimeout(() => fail('no answer in time'), ANSWER_WITHIN_MS)
      const ended =
        <T>(act: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer)
          this.#waiter = undefined
          act(value)
        }
      this.#waiter = { id, resolve: ended(resolve), fail: ended(fail) }
      if (this.#failure !== undefined) this.#waiter.fail(this.#failure)
    })
  }
}
