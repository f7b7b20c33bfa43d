// Runs each account's call signals one at a time. Each needs a query, so without the queue they could
// overtake each other.
import type { AccountId } from '../storage/storage.ts'

interface Queue {
  last: Promise<unknown>
  waiting: number
  bytes: number
}

export class AccountQueue {
  readonly #queues = new Map<AccountId, Queue>()
  #bytes = 0

  /** The size of all waiting signals, in bytes of UTF-8. */
  get bytes(): number {
    return this.#bytes
  }

  /** The size of an account's waiting signals, in bytes of UTF-8. */
  bytesOf(account: AccountId): number {
    return this.#queues.get(account)?.bytes ?? 0
  }

  /** Runs `work` after all earlier work of this account has ended. */
  async run(account: AccountId, bytes: number, work: () => Promise<void>): Promise<void> {
    const queue = this.#queues.get(account) ?? { last: Promise.resolve(), waiting: 0, bytes: 0 }
    this.#queues.set(account, queue)
    queue.waiting += 1
    queue.bytes += bytes
    this.#bytes += bytes
    const running = queue.last.then(work)
    queue.last = running.catch(() => undefined) // `run` throws the failure; the next work runs all the same.
    try {
      await running
    } finally {
      queue.waiting -= 1
      queue.bytes -= bytes
      this.#bytes -= bytes
      if (queue.waiting === 0) this.#queues.delete(account)
    }
  }
}
