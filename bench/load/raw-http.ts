// A cheap HTTP client for load: it keeps one connection open, sends one request at a time, and parses only
// the length and the body of responses.
import type { Socket } from 'bun'

/** An answer of a server. */
export interface RawAnswer {
  readonly status: number
  /** The status line and the headers. */
  readonly head: string
  readonly body: string
}

export class RawHttp {
  #socket: Socket | undefined
  #unread = ''
  #waiting: { resolve: (answer: RawAnswer) => void; reject: (error: Error) => void } | undefined
  readonly #host: string

  private constructor(host: string) {
    this.#host = host
  }

  static async open(url: string): Promise<RawHttp> {
    const { hostname, port, host } = new URL(url)
    const self = new RawHttp(host)
    self.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_socket, bytes) => self.#received(Buffer.from(bytes).toString('latin1')),
        close: () => self.#waiting?.reject(new Error('the server closed before it answered')),
      },
    })
    return self
  }

  /** Posts a body and resolves with the body of the response. */
  async post(path: string, body: string, headers = ''): Promise<string> {
    return (await this.ask(path, body, headers)).body
  }

  /** Posts a body and resolves with the response. */
  ask(path: string, body: string, headers = ''): Promise<RawAnswer> {
    const length = Buffer.byteLength(body)
    this.#socket?.write(
      `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`,
    )
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  close(): void {
    this.#socket?.end()
  }

  #received(text: string): void {
    this.#unread += text
    const headEnd = this.#unread.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = this.#unread.slice(0, headEnd)
    const length = Number(/content-length: (?<length>\d+)/i.exec(head)?.groups?.length ?? 0)
    const end = headEnd + 4 + length
    if (this.#unread.length < end) return
    const body = this.#unread.slice(headEnd + 4, end)
    this.#unread = this.#unread.slice(end)
    this.#waiting?.resolve({ status: Number(head.split(' ', 2)[1]), head, body })
  }
}
