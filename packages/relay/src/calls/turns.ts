// Each account's signals one after another: they are looked up in the store, and would overtake each other there.
import type { AccountId } from '../storage/storage.ts'

interface Line {
  last: Promise<unknown>
  waiting: number
  characters: number
}

export class AccountTurns {
  readonly #lines = new Map<AccountId, Line>()

  /** How much waits for its turn, in characters. */
  charactersOf(account: AccountId): number {
    return this.#lines.get(account)?.characters ?? 0
  }

  /** Runs `work` once what came before it for this account is through. */
  async take(account: AccountId, characters: number, work: () => Promise<void>): Promise<void> {
    const line = this.#lines.get(account) ?? { last: Promise.resolve(), waiting: 0, characters: 0 }
    this.#lines.set(account, line)
    line.waiting += 1
    line.characters += characters
    const turn = line.last.then(work)
    line.last = turn.catch(() => undefined) // Whoever asked hears of the failure; the next one starts afresh.
    try {
      await turn
    } finally {
      line.waiting -= 1
      line.characters -= characters
      if (line.waiting === 0) this.#lines.delete(account)
    }
  }
}
