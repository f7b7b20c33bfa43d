// Each account's signals one after another: they are looked up in the store, and would overtake each other there.
import type { AccountId } from '../storage/storage.ts'

interface Line {
  last: Promise<unknown>
  waiting: number
  bytes: number
}

export class AccountTurns {
  readonly #lines = new Map<AccountId, Line>()

  /** How much waits for its turn, in bytes of UTF-8. */
  bytesOf(account: AccountId): number {
    return this.#lines.get(account)?.bytes ?? 0
  }

  /** Runs `work` once what came before it for this account is through. */
  async take(account: AccountId, bytes: number, work: () => Promise<void>): Promise<void> {
    const line = this.#lines.get(account) ?? { last: Promise.resolve(), waiting: 0, bytes: 0 }
    this.#lines.set(account, line)
    line.waiting += 1
    line.bytes += bytes
    const turn = line.last.then(work)
    line.last = turn.catch(() => undefined) // Whoever asked hears of the failure; the next one starts afresh.
    try {
      await turn
    } finally {
      line.waiting -= 1
      line.bytes -= bytes
      if (line.waiting === 0) this.#lines.delete(account)
    }
  }
}
