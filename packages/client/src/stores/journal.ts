// Writes to the store, in order. Frame handlers do not wait for their writes, so failures are reported here.
import { asClientError, type ClientError } from '../client-error.ts'
import type { StoreChange } from './records.ts'
import type { ClientStore } from './store.ts'

/** The next frame is handled only while fewer writes than this are pending. */
const MAX_PENDING = 1000

/** The store's writer for frame handlers. */
export class Journal {
  readonly #store: ClientStore
  readonly #onFailure: (error: ClientError) => void
  readonly #onStored: (changes: readonly StoreChange[]) => void
  readonly #onWrite: (change: StoreChange) => void
  readonly #pending = new Set<Promise<void>>()
  /** What has become durable and was not reported yet. */
  readonly #stored: StoreChange[] = []
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param onFailure called for each write of `record` that fails
   * @param onStored called with what has become durable, at once for several writes that follow each other
   * @param onWrite called with each change before it is written
   */
  constructor(
    store: ClientStore,
    onFailure: (error: ClientError) => void,
    onStored: (changes: readonly StoreChange[]) => void = () => {},
    onWrite: (change: StoreChange) => void = () => {},
  ) {
    this.#store = store
    this.#onFailure = onFailure
    this.#onStored = onStored
    this.#onWrite = onWrite
  }

  /**
   * Writes; resolves once durable, in the order of the calls. @throws ClientError `STORE_FAILED`, `CLOSED`.
   */
  async write(changes: readonly StoreChange[]): Promise<void> {
    for (const change of changes) this.#onWrite(change)
    const written = this.#store.write(changes)
    // A store may report writes as durable in another order: a sealed store holds some calls back, others
    // not.
    const inOrder = this.#last.then(() => written)
    this.#last = Promise.allSettled([written, inOrder])
    try {
      await inOrder
    } catch (error) {
      throw asClientError(error, 'STORE_FAILED')
    }
    const isFirst = this.#stored.length === 0
    this.#stored.push(...changes)
    // Not by a timer: browsers delay those of a tab in the background, which may run the client for others.
    if (isFirst) void this.#last.then(() => this.#onStored(this.#stored.splice(0)))
  }

  /** Writes, and runs `after` once that is durable, in the order of the calls. Never throws. */
  record(changes: readonly StoreChange[], after: () => void = () => {}): void {
    const written = this.write(changes).then(after)
    const settled = written
      .catch((error: unknown) => this.#onFailure(asClientError(error, 'STORE_FAILED')))
      .finally(() => this.#pending.delete(settled))
    this.#pending.add(settled)
  }

  /** Resolves when fewer than the maximum of writes are pending. */
  async room(): Promise<void> {
    while (this.#pending.size >= MAX_PENDING) await Promise.race(this.#pending)
  }

  /** Resolves when everything recorded before this call has settled. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending)
  }
}
