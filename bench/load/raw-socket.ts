// A cheap WebSocket client for load: raw TCP, and frames are read in place, so that the load needs little CPU
// time. It implements RFC 6455 with a masking key of zero, which leaves the payload unchanged.
import { randomBytes } from 'node:crypto'
import type { Socket } from 'bun'

const TEXT = 0x81
const CLOSE = 0x88
const PING = 0x89
const PONG = 0x8a
/** The close code 1000 as two bytes. */
const GOODBYE = Buffer.from([0x03, 0xe8])

/**
 * Receives a text frame: `bytes` from `start` to `end`. The bytes are valid only until the listener returns.
 */
export type FrameListener = (bytes: Buffer, start: number, end: number) => void

export class RawSocket {
  onFrame: FrameListener = () => undefined
  onClose: () => void = () => undefined
  #socket: Socket | undefined
  #isUpgraded = false
  #upgraded: { resolve: () => void; reject: (error: Error) => void } | undefined
  #unread: Buffer = Buffer.alloc(0)
  #unwritten: Buffer[] = []
  #isFlushing = false

  /**
   * Opens `ws://host:port/path`.
   * @param headers further lines of the request, each with its end
   * @param withinMs how long that may take; as long as it takes, if undefined
   */
  static async open(
    url: string,
    onFrame?: FrameListener,
    { headers = '', withinMs }: { headers?: string; withinMs?: number } = {},
  ): Promise<RawSocket> {
    const { hostname, port, pathname, search } = new URL(url)
    const self = new RawSocket()
    if (onFrame) self.onFrame = onFrame
    const done = new Promise<void>((resolve, reject) => {
      self.#upgraded = { resolve, reject }
    })
    const late = withinMs === undefined ? undefined : setTimeout(() => self.#closed('too late'), withinMs)
    self.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_socket, bytes) =>
          self.#received(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        drain: () => self.#flush(),
        close: () => self.#closed(),
        error: () => self.#closed(),
      },
    })
    const key = randomBytes(16).toString('base64')
    self.#socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${headers}\r\n`,
    )
    try {
      await done
    } catch (error) {
      self.drop()
      throw error
    } finally {
      clearTimeout(late)
    }
    return self
  }

  /** Sends a text frame, together with the other frames of this turn of the event loop. */
  send(text: string): void {
    this.#write(frameOf(TEXT, Buffer.from(text)))
  }

  /** Stops reading, like a client on a busy machine. */
  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  /** Ends the TCP connection without a close frame. */
  close(): void {
    this.#socket?.end()
  }

  /** Sends a close frame (RFC 6455). The server then ends the connection. */
  leave(): void {
    this.#write(frameOf(CLOSE, GOODBYE))
  }

  /** Resets the TCP connection. */
  drop(): void {
    this.#socket?.terminate()
  }

  #write(frame: Buffer): void {
    this.#unwritten.push(frame)
    if (this.#isFlushing) return
    this.#isFlushing = true
    queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    this.#isFlushing = false
    const [first, ...more] = this.#unwritten
    if (!first || !this.#socket) return
    const bytes = more.length === 0 ? first : Buffer.concat(this.#unwritten)
    const written = this.#socket.write(bytes)
    this.#unwritten = written < bytes.length ? [bytes.subarray(Math.max(0, written))] : []
  }

  #received(bytes: Buffer): void {
    const all = this.#unread.length > 0 ? Buffer.concat([this.#unread, bytes]) : bytes
    let at = this.#isUpgraded ? 0 : this.#readUpgrade(all)
    while (at >= 0) {
      const next = this.#readFrame(all, at)
      if (next === at) break
      at = next
    }
    this.#unread = at < 0 ? Buffer.from(all) : Buffer.from(all.subarray(at))
  }

  #readUpgrade(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) return -1
    const status = bytes.subarray(0, bytes.indexOf('\r\n')).toString()
    if (!status.includes(' 101 ')) this.#upgraded?.reject(new Error(status))
    this.#isUpgraded = true
    this.#upgraded?.resolve()
    return end + 4
  }

  /** @returns where the next frame begins, or `at` if this frame is not complete yet */
  #readFrame(bytes: Buffer, at: number): number {
    if (bytes.length < at + 2) return at
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < at + head) return at
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    const end = at + head + length
    if (bytes.length < end) return at
    const kind = bytes[at]
    if (kind === TEXT) this.onFrame(bytes, at + head, end)
    else if (kind === PING) this.#write(frameOf(PONG, Buffer.from(bytes.subarray(at + head, end))))
    else if (kind === CLOSE) this.#socket?.end()
    return end
  }

  #closed(reason = 'closed before the upgrade'): void {
    this.#upgraded?.reject(new Error(reason))
    this.onClose()
  }
}

function frameOf(kind: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = length < 126 ? 6 : length < 65_536 ? 8 : 14
  const frame = Buffer.alloc(head + length)
  frame[0] = kind
  if (length < 126) frame[1] = 0x80 | length
  else if (length < 65_536) {
    frame[1] = 0x80 | 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 0x80 | 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  payload.copy(frame, head) // The masking key, the four bytes before the payload, stays zero.
  return frame
}
