// The queue of received frames: handles one after another, and turns errors into events.
import type { RelayFrame } from '@sotto/protocol'
import { asClientError, type ClientError } from '../client-error.ts'

/** If more bytes wait, the relay floods the client. The connection is closed to protect the memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024

interface WaitingFrame {
  readonly frame: RelayFrame
  readonly bytes: number
  readonly connection: number
}

/** Receives the frames. */
export interface FrameSink {
  /**
   * Handles one frame. Its writes to the store may still be pending when this resolves. `following` are the
   * next frames, as far as they are here: at most 255. The frame came on this connection, which may be gone.
   */
  handle(frame: RelayFrame, following: readonly RelayFrame[], connection: number): Promise<void>
  onError(error: ClientError): void
  onFlood(): void
}

/** The queue between the socket and the frame handler. */
export class Incoming {
  readonly #sink: FrameSink
  #waiting: WaitingFrame[] = []
  #waitingBytes = 0
  #running = false
  #stopped = false

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** @param connection the number of the connection that it came on */
  push(frame: RelayFrame, bytes: number, connection: number): void {
    if (this.#stopped) return
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      // No dropped frame was confirmed, so an honest relay sends it again.
      this.#waiting = []
      this.#waitingBytes = 0
      this.#sink.onFlood()
      return
    }
    this.#waiting.push({ frame, bytes, connection })
    this.#waitingBytes += bytes
    if (!this.#running) void this.#run()
  }

  /** Drops the waiting frames and ignores later ones. */
  stop(): void {
    this.#stopped = true
    this.#waiting = []
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      for (const [at, { frame, bytes, connection }] of batch.entries()) {
        if (this.#stopped) break
        try {
          const following = batch.slice(at + 1, at + 256).map((next) => next.frame)
          await this.#sink.handle(frame, following, connection)
        } catch (error) {
          this.#sink.onError(asClientError(error, 'BAD_REPLY'))
        }
        this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes)
      }
    }
    this.#running = false
  }
}
