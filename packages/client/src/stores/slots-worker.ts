// The page's side of the worker that overwrites the file of the erasure key.
import { ClientError } from '../client-error.ts'
import type { SlotsAnswer, SlotsQuestion } from './erasure-worker-messages.ts'
import { takenOver } from './slot-taken-over.ts'

/** A worker that answers nothing for this long has failed: its script may have been a "not found" page. */
const ANSWER_TIMEOUT_MS = 15_000

type Question = SlotsQuestion extends infer Each
  ? Each extends SlotsQuestion
    ? Omit<Each, 'id' | 'file'>
    : never
  : never

/** Starts the worker of this package. */
const packagedWorker = (): Worker =>
  new Worker(new URL('./erasure-worker.js', import.meta.url), { type: 'module' })

/** The browser has no files that are written in place. */
export class Missing extends Error {}

/** The worker, for one file. @throws ClientError `UNSUPPORTED` if it does not start */
export class SlotsWorker {
  readonly #file: string
  readonly #worker: Worker
  readonly #waiting = new Map<number, (answer: SlotsAnswer | ClientError) => void>()
  #asked = 0

  constructor(file: string, startWorker = packagedWorker) {
    this.#file = file
    try {
      this.#worker = startWorker()
    } catch (cause) {
      throw notStarted(cause)
    }
    this.#worker.addEventListener('message', ({ data }: MessageEvent<SlotsAnswer>) =>
      this.#waiting.get(data.id)?.(data),
    )
    this.#worker.addEventListener('error', ({ message }) => this.#endAll(notStarted(message)))
  }

  async ask(question: Question): Promise<readonly [Uint8Array, Uint8Array]> {
    this.#asked += 1
    const id = this.#asked
    const answer = await new Promise<SlotsAnswer | ClientError>((resolve) => {
      const timer = setTimeout(() => resolve(notStarted('no answer')), ANSWER_TIMEOUT_MS)
      this.#waiting.set(id, (answered) => {
        clearTimeout(timer)
        resolve(answered)
      })
      this.#worker.postMessage({ ...question, id, file: this.#file } satisfies SlotsQuestion)
    })
    this.#waiting.delete(id)
    if (answer instanceof ClientError) throw answer
    if ('slots' in answer) return answer.slots
    if ('failure' in answer)
      throw new ClientError('STORE_FAILED', `the file of the erasure key failed: ${answer.failure}`)
    if (answer.refusal === 'missing') throw new Missing()
    if (answer.refusal === 'changed') throw takenOver()
    throw new ClientError('STORE_LOCKED', 'another tab holds the file of the erasure key')
  }

  async close(): Promise<void> {
    this.#worker.terminate()
    this.#endAll(new ClientError('CLOSED', 'the worker for the erasure key was closed'))
  }

  #endAll(reason: ClientError): void {
    for (const end of this.#waiting.values()) end(reason)
  }
}

/** Whether this browser has a private file system for the origin. */
export function hasFiles(): boolean {
  // The type says that both are always defined. Outside secure contexts, and in older browsers, they are not.
  const storage: Partial<StorageManager> | undefined = navigator.storage
  return typeof storage?.getDirectory === 'function'
}

/** The name of the file of a database. */
export function fileOf(name: string): string {
  return `sotto-erasure-${encodeURIComponent(name)}`
}

function notStarted(cause: unknown): ClientError {
  return new ClientError('UNSUPPORTED', 'the worker for the erasure key does not start', { cause })
}
