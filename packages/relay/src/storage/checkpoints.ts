// Checkpoints SQLite's write-ahead log in a separate thread. Copying its pages into the database and syncing
// them takes tens of milliseconds, during which the main thread could not answer clients. Also empties the
// log: until then it contains what was deleted since.
import type { SerialQueue } from './serial-queue.ts'

/** How often the log is copied into the database, if something was written. */
const EVERY_MS = 1000
/**
 * How often the log is emptied under load that never ends; without load it is emptied at once. More often
 * would cost more, because writing to a file that grows is slower than overwriting it.
 */
const EMPTY_EVERY_MS = 60_000

/** A message to the thread. */
export type CheckpointOrder = { readonly file: string } | 'checkpoint' | 'restart log' | 'empty log' | 'end'
/** The thread's answer to each order except the one with the file. */
export type CheckpointAnswer = 'done' | 'log is long' | 'log is in use'

/** Controls the thread, which starts with the first checkpoint at the latest. */
export class Checkpoints {
  readonly #file: string
  readonly #queue: SerialQueue
  readonly #emptyEveryMs: number
  readonly #timer: ReturnType<typeof setInterval>
  #worker: Worker | undefined
  /** Resolves the promise of the order that the thread is working on. There is one order at a time. */
  #onAnswer: ((answer: CheckpointAnswer) => void) | undefined
  #hasWritten = false
  /** When something was written to the log while it was empty; undefined while it is empty. */
  #filledAt: number | undefined
  #round: Promise<void> | undefined

  /** @param queue the queue of the writers, which wait while the log restarts or is emptied */
  constructor(file: string, queue: SerialQueue, emptyEveryMs = EMPTY_EVERY_MS) {
    this.#file = file
    this.#queue = queue
    this.#emptyEveryMs = emptyEveryMs
    this.#timer = setInterval(() => {
      if (this.#filledAt === undefined) return
      this.#round ??= this.#checkpoint(this.#filledAt).finally(() => {
        this.#round = undefined
      })
    }, EVERY_MS)
    this.#timer.unref()
  }

  /**
   * Starts the thread. If no descriptor were left for it, the whole process would end, so the relay starts it
   * before it accepts connections.
   */
  async start(): Promise<void> {
    this.#round ??= this.#ask('checkpoint').then(() => {
      this.#round = undefined
    })
    await this.#round
  }

  /** Call this after each transaction that wrote. */
  written(): void {
    this.#hasWritten = true
    this.#filledAt ??= performance.now()
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

  // To restart or empty the log, the thread needs SQLite's write lock. Writers that wait in the queue leave
  // the main thread free to read sockets; waiting for SQLite's lock would block it.
  async #checkpoint(filledAt: number): Promise<void> {
    const isQuiet = !this.#hasWritten
    this.#hasWritten = false
    const answer = isQuiet ? 'done' : await this.#ask('checkpoint')
    if (isQuiet || performance.now() - filledAt > this.#emptyEveryMs) {
      await this.#queue.run(async () => {
        this.#filledAt = undefined
        // A reader, such as a backup, may still need the log. The next round tries again.
        if ((await this.#ask('empty log')) !== 'done') this.#filledAt = filledAt
      })
    } else if (answer === 'log is long') await this.#queue.run(() => this.#ask('restart log'))
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
      this.#onAnswer?.('log is in use')
    }
    worker.onerror = ended
    worker.addEventListener('close', ended)
    const order: CheckpointOrder = { file: this.#file }
    worker.postMessage(order)
    this.#worker = worker
    return worker
  }
}
