// A cheap HTTP connection of the attacker, from an address of its own: it sends one request at a time, counts
// the bytes of answers and keeps only short ones.
import { connect, type Socket } from 'node:net'

/** Where attacks come from. All of 127.0.0.0/8 is this machine; the bystanders are at 127.0.0.1. */
const ATTACKER_ADDRESS = '127.0.0.2'
const MOST_KEPT_BYTES = 65_536
const HEAD_END = '\r\n\r\n'

/** An answer. The status is 0 if the connection ended before it. */
export interface HttpAnswer {
  readonly status: number
  /** Empty if it is long. */
  readonly body: string
  readonly bytes: number
}

const NO_ANSWER: HttpAnswer = { status: 0, body: '', bytes: 0 }

/** Opens a TCP connection from the attacker's address. */
export function connectFrom(url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER_ADDRESS })
  socket.on('error', () => undefined) // `close` follows it.
  return socket
}

export class HttpConnection {
  readonly #socket: Socket
  #isOpen = true
  #answered: ((answer: HttpAnswer) => void) | undefined
  #head = ''
  #body: Buffer[] = []
  #bytes = 0
  #length = -1

  constructor(url: string) {
    this.#socket = connectFrom(url)
    this.#socket.on('data', (data: Buffer) => this.#received(data))
    this.#socket.on('close', () => {
      this.#isOpen = false
      this.#answered?.(NO_ANSWER)
    })
  }

  /** Whether another request can be sent. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends a request, and resolves with its answer. */
  request(head: string, body: Uint8Array | string): Promise<HttpAnswer> {
    this.#head = ''
    this.#body = []
    this.#bytes = 0
    this.#length = -1
    return new Promise((resolve) => {
      this.#answered = resolve
      if (!this.#isOpen) resolve(NO_ANSWER)
      this.#socket.write(head)
      if (body.length > 0) this.#socket.write(body)
    })
  }

  close(): void {
    this.#isOpen = false
    this.#socket.destroy()
  }

  #received(data: Buffer): void {
    const piece = this.#length < 0 ? this.#readHead(data) : data
    if (!piece) return
    this.#bytes += piece.length
    if (this.#length <= MOST_KEPT_BYTES) this.#body.push(piece)
    if (this.#bytes < this.#length) return
    if (/^connection: *close/im.test(this.#head)) this.close()
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(this.#head)?.[1] ?? 0)
    this.#answered?.({ status, body: Buffer.concat(this.#body).toString('utf8'), bytes: this.#bytes })
  }

  /** @returns the bytes of the body in this piece, once the head is complete */
  #readHead(data: Buffer): Buffer | undefined {
    const before = this.#head.length
    this.#head += data.toString('latin1')
    const end = this.#head.indexOf(HEAD_END)
    if (end < 0) return undefined
    this.#head = this.#head.slice(0, end + HEAD_END.length)
    const length = /^content-length: *(\d+)/im.exec(this.#head)?.[1]
    if (length === undefined && !/^HTTP\/1\.1 204/.test(this.#head))
      throw new Error(`an answer has no length: ${this.#head}`)
    this.#length = Number(length ?? 0)
    return data.subarray(this.#head.length - before)
  }
}
