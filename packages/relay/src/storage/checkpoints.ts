// Checkpoints SQLite's write-ahead log in a separate thread. Copying its pages into the database and syncing
// them takes tens of milliseconds, during which the main thread could not answer clients.
import type { SerialQueue } from './serial-queue.ts'

/** How often the log is copied into the database, if something was written. */
const EVERY_MS = 1000

/** A message to the thread. */
export type CheckpointOrder = { readonly file: string } | 'checkpoint' | 'restart log' | 'end'
/** The thread's answer to each order except the one with the file. */
export type CheckpointAnswer = 'done' | 'log is long'

/** Controls the thread, which starts with the first checkpoint. */
export class Checkpoints {
  readonly #file: string
  readonly #queue: SerialQueue
  readonly #timer: ReturnType<typeof setInterval>
  #worker: Worker | undefined
  /** Resolves the promise of the order that the thread is working on. There is one order at a time. */
  #onAnswer: ((answer: CheckpointAnswer) => void) | undefined
  #hasWritten = false
  #round: Promise<void> | undefined

  /** @param queue the queue of the writers, which wait while a log that has become too long restarts */
  constructor(file: string, queue: SerialQueue) {
    this.#file = file
    this.#queue = queue
    this.#timer = setInterval(() => {
      if (this.#hasWritten)
        this.#round ??= this.#checkpoint().finally(() => {
          this.#round = undefined
        })
    }, EVERY_MS)
    this.#timer.unref()
  }

  /** Call this with each transaction that writes. */
  written(): void {
    this.#hasWritten = true
  }

  /** Ends the thread after the checkpoint that it is working on. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#round
    if (!this.#worker) return
    await this.#ask('end')
    this.#worker?.terminate()
    this.#worker = undefined
  }

  async #checkpoint(): Promise<void> {
    this.#hasWritten = false
    if ((await this.#ask('checkpoint')) === 'log is long') {
      // To restart the log, the thread needs SQLite's write lock. Writers that wait in this queue leave the
      // main thread free to read sockets; waiting for SQLite's lock would block it.
      await this.#queue.run(() => this.#ask('restart log'))
    }
  }

  #ask(order: CheckpointOrder): Promise<CheckpointAnswer> {
    const worker = this.#worker ?? this.#start()
    return new Promise((resolve) => {
      this.#onAnswer = resolve
      worker.postMessage(order)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { ref: false })
    worker.onmessage = ({ data }: MessageEvent<CheckpointAnswer>) => this.#onAnswer?.(data)
    // A full disk ends the thread, and the next checkpoint starts another. Commits fail for the same reason
    // and log it.
    const ended = (): void => {
      // An error fires both events, and a new thread may have started in between.
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#hasWritten = true
      this.#onAnswer?.('done')
    }
    worker.onerror = ended
    worker.addEventListener('close', ended)
    const order: CheckpointOrder = { file: this.#file }
    worker.postMessage(order)
    this.#worker = worker
    return worker
  }
}
