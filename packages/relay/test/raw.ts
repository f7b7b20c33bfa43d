// HTTP and WebSocket written byte by byte: for requests and frames that a correct client never sends, and for
// peers that stop reading.
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { WireAccount } from './wire.ts'

/** An HTTP answer as it was received. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends these bytes. @returns the first answer, or what was received if the connection ends before it */
export async function rawHttp(relayUrl: string, request: string | Uint8Array): Promise<RawAnswer> {
  const socket = await open(relayUrl)
  const answer = await new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (data: Buffer) => {
      text += data.toString('utf8')
      if (isWhole(text)) resolve(text)
    })
    socket.on('close', () => resolve(text))
    socket.write(request)
  })
  socket.destroy()
  const [head = '', body = ''] = answer.split(/\r\n\r\n(.*)/s)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body }
}

/** A request without a body. */
export function requestOf(line: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: 'relay.example', connection: 'close', ...headers })
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** Headers that request a WebSocket. */
export const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Frame types of RFC 6455, 5.2. */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A WebSocket that sends only the test's bytes: it answers no ping, and a test can stop it from reading. */
export class RawSocket {
  readonly socket: Socket
  readonly ended: Promise<void>
  /** Whether the connection has ended. */
  isEnded = false
  #received = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.once('close', () => {
      this.isEnded = true
    })
    socket.on('data', (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data])
    })
  }

  static async open(account: WireAccount): Promise<RawSocket> {
    const path = `/ws?user_uuid=${account.uuid}&ticket=${await account.ticket()}`
    const raw = new RawSocket(await open(account.base))
    raw.socket.write(requestOf(`GET ${path}`, UPGRADE))
    await raw.until((text) => text.includes('sync_end'))
    return raw
  }

  /** Everything received, as text. */
  get text(): string {
    return this.#received.toString('latin1')
  }

  async until(seen: (text: string) => boolean, withinMs = 45_000): Promise<void> {
    for (const late = performance.now() + withinMs; !seen(this.text); await Bun.sleep(5)) {
      if (performance.now() > late)
        throw new Error(`the expected text did not arrive; received: ${this.text.slice(-200)}`)
    }
  }

  /** The code of the last close frame received, if any. */
  get closeCode(): number | undefined {
    const at = this.#received.lastIndexOf(Buffer.from([0x88]))
    return at >= 0 && at + 3 < this.#received.length ? this.#received.readUInt16BE(at + 2) : undefined
  }

  send(
    payload: string | Uint8Array,
    options: { opcode?: number; fin?: boolean; mask?: boolean } = {},
  ): boolean {
    return this.socket.write(encodeRawFrame(payload, options))
  }
}

/** One WebSocket frame. It is masked, as a client's frames must be, unless `mask` is false. */
export function encodeRawFrame(
  payload: string | Uint8Array,
  { opcode = OPCODES.text, fin = true, mask = true }: { opcode?: number; fin?: boolean; mask?: boolean } = {},
): Buffer {
  const data = Buffer.from(payload)
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10)
  head[0] = (fin ? 0x80 : 0) | opcode
  if (head.length === 2) head[1] = data.length
  else if (head.length === 4) head.writeUInt16BE(data.length, 2)
  else head.writeBigUInt64BE(BigInt(data.length), 2)
  if (head.length > 2) head[1] = head.length === 4 ? 126 : 127
  if (!mask) return Buffer.concat([head, data])
  const key = randomBytes(4)
  head[1] = (head[1] ?? 0) | 0x80
  return Buffer.concat([head, key, data.map((byte, i) => byte ^ (key[i % 4] ?? 0))])
}

function open(relayUrl: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(relayUrl).port), '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
    socket.on('error', () => undefined) // A reset counts as the end of the connection; `close` follows it.
  })
}

function isWhole(text: string): boolean {
  const [head = '', body] = text.split(/\r\n\r\n(.*)/s)
  if (body === undefined) return false
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  return length !== undefined ? Buffer.byteLength(body) >= Number(length) : /^HTTP\/1\.1 (?:1|204)/.test(head)
}
