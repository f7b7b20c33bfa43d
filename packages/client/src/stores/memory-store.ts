// A store in memory: for tests, and for clients that keep nothing on purpose.
import { ClientError } from '../client-error.ts'
import { grantSlots } from './erasure-slots.ts'
import { InMemoryReads } from './in-memory-reads.ts'
import type { StoreChange } from './records.ts'

/** A store in memory. It can be reused after its client was closed, and ends with the process. */
export class MemoryStore extends InMemoryReads {
  #closed = false

  constructor() {
    super()
    grantSlots(this, { memory: true })
  }

  async write(changes: readonly StoreChange[]): Promise<void> {
    if (this.#closed) throw new ClientError('CLOSED', 'the store is closed')
    for (const change of changes) this.state.apply(change)
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  async abandon(): Promise<void> {
    this.#closed = true
  }

  /** Opens the store again after `close`, as the next process opens a file store. */
  reopen(): void {
    this.#closed = false
  }
}
