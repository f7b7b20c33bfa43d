// Writing to the store on behalf of what the relay sends: nobody waits for it, so failures are told here.
import { asClientError, type ClientError } from './client-error.ts'
import type { StoreChange } from './stores/records.ts'
import type { ClientStore } from './stores/store.ts'

/** Frames are taken on while fewer writes than this are on their way to the disk. */
const MAX_PENDING = 1000

/** The store, as seen by those who handle frames. */
export class Journal {
  readonly #store: ClientStore
  readonly #onFailure: (error: ClientError) => void
  readonly #pending = new Set<Promise<void>>()
  #last: Promise<unknown> = Promise.resolve()

  /** `onFailure` hears of each write that failed while nobody waited for it. */
  constructor(store: ClientStore, onFailure: (error: ClientError) => void) {
    this.#store = store
    this.#onFailure = onFailure
  }

  /** Writes; resolves once durable, in the order of the calls. @throws ClientError `STORE_FAILED`, `CLOSED`. */
  async write(changes: readonly StoreChange[]): Promise<void> {
    const written = this.#store.write(changes)
    // What is durable at once is told by a store in any order: a sealed one holds some calls back, and not others.
    const inOrder = this.#last.then(() => written)
    this.#last = Promise.allSettled([written, inOrder])
    try {
      await inOrder
    } catch (error) {
      throw asClientError(error, 'STORE_FAILED')
    }
  }

  /** Writes, and runs `after` once durable. Never throws. What was recorded earlier comes to `after` earlier. */
  record(changes: readonly StoreChange[], after: () => void = () => {}): void {
    const written = this.write(changes).then(after)
    const settled = written
      .catch((error: unknown) => this.#onFailure(asClientError(error, 'STORE_FAILED')))
      .finally(() => this.#pending.delete(settled))
    this.#pending.add(settled)
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#pending.size >= MAX_PENDING) await Promise.race(this.#pending)
  }

  /** Resolves when everything recorded so far has settled. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }
}
