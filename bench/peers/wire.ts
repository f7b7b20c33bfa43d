// A TCP client for load. It writes everything that is sent in one turn of the event loop together, and reads
// received bytes in place.
import type { Socket } from 'bun'

/**
 * Reads one unit of a protocol from `bytes` at `at`. The bytes are valid only until it returns.
 * @returns where the next unit begins, or `at` if this unit is not complete yet
 */
export type UnitReader = (bytes: Buffer, at: number) => number

export class Wire {
  onClose: () => void = () => undefined
  #socket: Socket | undefined
  #read: UnitReader
  #unread: Buffer = Buffer.alloc(0)
  #unwritten: Buffer[] = []
  #isFlushing = false

  private constructor(read: UnitReader) {
    this.#read = read
  }

  /** Connects to a port of this machine. */
  static async open(port: number, read: UnitReader): Promise<Wire> {
    const self = new Wire(read)
    self.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => {
          socket.setNoDelay(true)
        },
        data: (_socket, bytes) =>
          self.#received(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        drain: () => self.#flush(),
        close: () => self.onClose(),
        error: () => self.onClose(),
      },
    })
    return self
  }

  send(what: string | Buffer): void {
    this.#unwritten.push(typeof what === 'string' ? Buffer.from(what) : what)
    if (this.#isFlushing) return
    this.#isFlushing = true
    queueMicrotask(() => this.#flush())
  }

  close(): void {
    this.onClose = () => undefined
    this.#socket?.end()
  }

  #flush(): void {
    this.#isFlushing = false
    const [first, ...more] = this.#unwritten
    if (!first || !this.#socket) return
    const bytes = more.length === 0 ? first : Buffer.concat(this.#unwritten)
    const written = Math.max(0, this.#socket.write(bytes))
    this.#unwritten = written < bytes.length ? [bytes.subarray(written)] : []
  }

  #received(bytes: Buffer): void {
    const all = this.#unread.length > 0 ? Buffer.concat([this.#unread, bytes]) : bytes
    let at = 0
    while (at < all.length) {
      const next = this.#read(all, at)
      if (next === at) break
      at = next
    }
    this.#unread = Buffer.from(all.subarray(at))
  }
}
