// Frames of the relay, one after another: each is decided on before the next is looked at, and none can throw out.
import type { RelayFrame } from '@sotto/protocol'
import { asClientError, type ClientError } from './client-error.ts'

/** More than this waiting means a relay that floods; the connection is given up rather than the memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024

interface WaitingFrame {
  readonly frame: RelayFrame
  readonly bytes: number
}

/** What the frames are given to. */
export interface FrameSink {
  /** Decides on one frame. What it writes to the store may still be on its way when this resolves. */
  handle(frame: RelayFrame): Promise<void>
  onError(error: ClientError): void
  onFlood(): void
}

/** The queue between the socket and those who handle frames. */
export class Incoming {
  readonly #sink: FrameSink
  #waiting: WaitingFrame[] = []
  #waitingBytes = 0
  #running = false
  #stopped = false

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  push(frame: RelayFrame, bytes: number): void {
    if (this.#stopped) return
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      // Nothing dropped here was confirmed, so an honest relay sends it again.
      this.#waiting = []
      this.#waitingBytes = 0
      this.#sink.onFlood()
      return
    }
    this.#waiting.push({ frame, bytes })
    this.#waitingBytes += bytes
    if (!this.#running) void this.#run()
  }

  /** Drops what waits and takes nothing more. */
  stop(): void {
    this.#stopped = true
    this.#waiting = []
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      for (const { frame, bytes } of batch) {
        if (this.#stopped) break
        try {
          await this.#sink.handle(frame)
        } catch (error) {
          this.#sink.onError(asClientError(error, 'BAD_REPLY'))
        }
        this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes)
      }
    }
    this.#running = false
  }
}
