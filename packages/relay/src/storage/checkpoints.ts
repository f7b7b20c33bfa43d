// Bringing SQLite's write-ahead log home, in a thread of its own: copying pages into the database and syncing them
// takes tens of milliseconds, in which the thread that answers people would do nothing else.
import type { Turns } from './turns.ts'

/** How often what was written is brought home. */
const EVERY_MS = 1000

/** What the thread is told. */
export type CheckpointOrder = { readonly file: string } | 'checkpoint' | 'begin anew' | 'end'
/** What it answers to all but the first. */
export type CheckpointAnswer = 'done' | 'log is long'

/** The thread, started when there is something to do for the first time. */
export class Checkpoints {
  readonly #file: string
  readonly #turns: Turns
  readonly #timer: ReturnType<typeof setInterval>
  #worker: Worker | undefined
  /** Hands the thread's answer to whoever asked; one asks at a time. */
  #answered: ((answer: CheckpointAnswer) => void) | undefined
  #hasWritten = false
  #round: Promise<void> | undefined

  /** @param turns of the writers, who wait while a log that got too long begins anew */
  constructor(file: string, turns: Turns) {
    this.#file = file
    this.#turns = turns
    this.#timer = setInterval(() => {
      if (this.#hasWritten)
        this.#round ??= this.#checkpoint().finally(() => {
          this.#round = undefined
        })
    }, EVERY_MS)
    this.#timer.unref()
  }

  /** To be called when something was committed. */
  written(): void {
    this.#hasWritten = true
  }

  /** Ends the thread once it is through with what it is at. */
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
      // The thread needs the writers' lock for that. Who waits for his turn here goes on reading sockets meanwhile; who
      // waited for SQLite's own lock would sleep.
      await this.#turns.take(() => this.#ask('begin anew'))
    }
  }

  #ask(order: CheckpointOrder): Promise<CheckpointAnswer> {
    const worker = this.#worker ?? this.#start()
    return new Promise((resolve) => {
      this.#answered = resolve
      worker.postMessage(order)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { ref: false })
    worker.onmessage = ({ data }: MessageEvent<CheckpointAnswer>) => this.#answered?.(data)
    // A full disk ends the thread: the next round starts another. Commits fail for the same reason, and say so in the log.
    const ended = (): void => {
      if (this.#worker !== worker) return // Told twice of an error, and by then there may be another.
      this.#worker = undefined
      this.#hasWritten = true
      this.#answered?.('done')
    }
    worker.onerror = ended
    worker.addEventListener('close', ended)
    const order: CheckpointOrder = { file: this.#file }
    worker.postMessage(order)
    this.#worker = worker
    return worker
  }
}
