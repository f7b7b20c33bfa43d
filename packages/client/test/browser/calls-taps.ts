// Taps between a call and its servers: they record every datagram to and from the TURN server, and every byte
// to and from the relay.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { connect, createServer, type Server, type Socket as TcpSocket } from 'node:net'

/** The header of every STUN message has these bytes, from its fifth byte on (RFC 8489, section 5). */
const MAGIC_COOKIE = Buffer.from('2112a442', 'hex')

/** A proxy in front of the TURN server. It records every datagram it forwards, and can drop datagrams. */
export class TurnTap {
  readonly port: number
  /** Every forwarded datagram, in both directions. */
  readonly datagrams: Buffer[] = []
  /**
   * The share of media datagrams to drop, 0 to 1. Keep-alives are never dropped: without them the path would
   * break by chance.
   */
  lossShare = 0
  readonly #server: Socket
  readonly #turnPort: number
  /** One path for each port a browser sends from. A path that was cut stays here and carries nothing. */
  readonly #paths = new Map<number, { socket: Socket; isCut: boolean }>()

  private constructor(server: Socket, turnPort: number) {
    this.#server = server
    this.#turnPort = turnPort
    this.port = server.address().port
    server.on('error', ignoreClosedPort)
    server.on('message', (datagram, from) => this.#onward(datagram, from))
  }

  static async before(turnPort: number): Promise<TurnTap> {
    const server = createSocket('udp4')
    await listenBelow((port, done) => {
      server.removeAllListeners()
      server.once('error', () => done(false))
      server.bind(port, '127.0.0.1', () => done(true))
    })
    return new TurnTap(server, turnPort)
  }

  /**
   * Drops everything on the present paths, as if the network had failed. The browsers find new paths through
   * this tap.
   */
  cut(): void {
    for (const path of this.#paths.values()) path.isCut = true
  }

  stop(): void {
    this.#server.close()
    for (const { socket } of this.#paths.values()) socket.close()
  }

  #onward(datagram: Buffer, from: RemoteInfo): void {
    const path = this.#paths.get(from.port) ?? this.#open(from)
    if (this.#isLost(path, datagram)) return
    this.datagrams.push(datagram)
    path.socket.send(datagram, this.#turnPort, '127.0.0.1')
  }

  #open(from: RemoteInfo): { socket: Socket; isCut: boolean } {
    const path = { socket: createSocket('udp4'), isCut: false }
    path.socket.on('error', ignoreClosedPort)
    path.socket.on('message', (datagram) => {
      if (this.#isLost(path, datagram)) return
      this.datagrams.push(datagram)
      this.#server.send(datagram, from.port, from.address)
    })
    this.#paths.set(from.port, path)
    return path
  }

  #isLost({ isCut }: { isCut: boolean }, datagram: Buffer): boolean {
    // A STUN message, alone or after the four bytes of a channel's header.
    const isStun = datagram.subarray(4, 12).includes(MAGIC_COOKIE)
    return isCut || (!isStun && Math.random() < this.lossShare)
  }
}

/**
 * A datagram to a port that its owner has just closed is lost. Bun reports that as an error of the sender's
 * socket.
 */
function ignoreClosedPort(error: Error): void {
  if (!error.message.includes('ECONNREFUSED')) throw error
}

/** A proxy in front of the relay. It records every byte of every connection. */
export class RelayTap {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<TcpSocket>()
  readonly #connections: { sent: Buffer[]; received: Buffer[] }[] = []

  private constructor(server: Server, port: number, relayUrl: string) {
    this.#server = server
    this.url = `http://127.0.0.1:${port}`
    server.on('connection', (client) =>
      this.#join(client, connect(Number(new URL(relayUrl).port), '127.0.0.1')),
    )
  }

  static async before(relayUrl: string): Promise<RelayTap> {
    const server = createServer()
    const port = await listenBelow((tried, done) => {
      server.removeAllListeners()
      server.once('error', () => done(false))
      server.listen(tried, '127.0.0.1', () => done(true))
    })
    return new RelayTap(server, port, relayUrl)
  }

  /**
   * Every byte sent to the relay and received from it, by HTTP and WebSockets. WebSocket frames are unmasked.
   */
  heard(): { sent: Buffer; received: Buffer } {
    const sent = this.#connections.map((each) => unmasked(Buffer.concat(each.sent)))
    const received = this.#connections.map((each) => Buffer.concat(each.received))
    return { sent: Buffer.concat(sent), received: Buffer.concat(received) }
  }

  stop(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(client: TcpSocket, relay: TcpSocket): void {
    const kept: { sent: Buffer[]; received: Buffer[] } = { sent: [], received: [] }
    this.#connections.push(kept)
    for (const [from, to, heard] of [
      [client, relay, kept.sent],
      [relay, client, kept.received],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (bytes) => heard.push(Buffer.from(bytes)))
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  }
}

/** The bytes that a client sent. The frames of its WebSocket (RFC 6455, section 5) are unmasked. */
function unmasked(bytes: Buffer): Buffer {
  const head = bytes.indexOf('\r\n\r\n')
  if (!/upgrade: websocket/i.test(bytes.subarray(0, head).toString('latin1'))) return bytes
  const texts = [bytes.subarray(0, head + 4)]
  for (let at = head + 4; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const length =
      short === 126
        ? bytes.readUInt16BE(at + 2)
        : short === 127
          ? Number(bytes.readBigUInt64BE(at + 2))
          : short
    const begin = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0)
    const mask = bytes.subarray(begin, begin + 4)
    const text = Buffer.from(bytes.subarray(begin + 4, begin + 4 + length))
    for (let n = 0; n < text.length; n += 1) text[n] = (text[n] ?? 0) ^ (mask[n % 4] ?? 0)
    texts.push(text, Buffer.from('\n'))
    at = begin + 4 + length
  }
  return Buffer.concat(texts)
}

// Listens on a port below 32768, because systems do not use those ports for outgoing connections.
async function listenBelow(listen: (port: number, done: (isUp: boolean) => void) => void): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 10_000 + Math.floor(Math.random() * 9000)
    if (await new Promise<boolean>((resolve) => listen(port, resolve))) return port
  }
  throw new Error('no free port')
}
