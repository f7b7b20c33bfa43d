// Who listens between a call and its servers: every datagram to and from the TURN server, every byte to and from the relay.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { connect, createServer, type Server, type Socket as TcpSocket } from 'node:net'

/** In the header of each STUN message (RFC 8489, section 5), at its fifth byte. */
const MAGIC_COOKIE = Buffer.from('2112a442', 'hex')

/** Stands where the TURN server seems to be. Hears all that is sent to it and comes from it, and can lose it. */
export class TurnTap {
  readonly port: number
  /** Every datagram, both ways. */
  readonly datagrams: Buffer[] = []
  /** The share of media that is lost, 0 to 1. What keeps the way open is not: without it the way would break, by chance. */
  lossShare = 0
  readonly #server: Socket
  readonly #turnPort: number
  /** One for each address a browser sends from; those that are cut stay here, and carry nothing. */
  readonly #ways = new Map<number, { socket: Socket; isCut: boolean }>()

  private constructor(server: Socket, turnPort: number) {
    this.#server = server
    this.#turnPort = turnPort
    this.port = server.address().port
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

  /** What the browsers send from now is carried no more, as when their network is gone. Other ways are found through here. */
  cut(): void {
    for (const way of this.#ways.values()) way.isCut = true
  }

  stop(): void {
    this.#server.close()
    for (const { socket } of this.#ways.values()) socket.close()
  }

  #onward(datagram: Buffer, from: RemoteInfo): void {
    const way = this.#ways.get(from.port) ?? this.#open(from)
    if (this.#isLost(way, datagram)) return
    this.datagrams.push(datagram)
    way.socket.send(datagram, this.#turnPort, '127.0.0.1')
  }

  #open(from: RemoteInfo): { socket: Socket; isCut: boolean } {
    const way = { socket: createSocket('udp4'), isCut: false }
    way.socket.on('message', (datagram) => {
      if (this.#isLost(way, datagram)) return
      this.datagrams.push(datagram)
      this.#server.send(datagram, from.port, from.address)
    })
    this.#ways.set(from.port, way)
    return way
  }

  #isLost({ isCut }: { isCut: boolean }, datagram: Buffer): boolean {
    // As it is, or behind the four bytes of a channel.
    const isStun = datagram.subarray(4, 12).includes(MAGIC_COOKIE)
    return isCut || (!isStun && Math.random() < this.lossShare)
  }
}

/** Stands where the relay seems to be, and keeps every byte of every connection. */
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

  /** Everything that went to the relay and came from it, HTTP and WebSockets, the latter unmasked. */
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

/** What a client sent, the frames of its WebSocket (RFC 6455, section 5) without their masks. */
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

// Below 32768, where no system takes the port of an outgoing connection from.
async function listenBelow(listen: (port: number, done: (isUp: boolean) => void) => void): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 10_000 + Math.floor(Math.random() * 9000)
    if (await new Promise<boolean>((resolve) => listen(port, resolve))) return port
  }
  throw new Error('no free port')
}
