// A cheap HTTP client for load: it keeps one connection open, sends one request at a time, and parses only
// the length and the body of responses.
import type { Socket } from 'bun'

export class RawHttp {
  #socket: Socket | undefined
  #unread = ''
  #waiting: { resolve: (body: string) => void; reject: (error: Error) => void } | undefined
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
  post(path: string, body: string, headers = ''): Promise<string> {
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
    const head = this.#unread.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/content-length: (?<length>\d+)/i.exec(this.#unread)?.groups?.length ?? 0)
    const end = head + 4 + length
    if (this.#unread.length < end) return
    const body = this.#unread.slice(head + 4, end)
    this.#unread = this.#unread.slice(end)
    this.#waiting?.resolve(body)
  }
}
