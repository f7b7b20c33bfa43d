// Deletes accounts. From one transaction on, the account is gone; what it left in other features is erased
// afterwards, in short transactions, so that an account with thousands of friends stops nobody. A row says
// which accounts are not purged yet, so that another process can go on.
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { Purges } from '../operations/purges.ts'
import type { Sliced } from '../operations/slices.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { markDeleted } from './accounts.ts'

/** Ends in another feature what must end together with the account, and is little. */
export type AccountEnding = (sql: Sql, account: AccountId, parts: { clock: Clock }) => Promise<void>

/**
 * Erases what a deleted account left in another feature. Erasing again, after any part of it, is harmless.
 */
export type AccountEraser = (account: AccountId, parts: Sliced & { clock: Clock }) => Promise<void>

interface Parts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly endings: readonly AccountEnding[]
  readonly erasers: readonly AccountEraser[]
}

export class AccountDeletion {
  readonly #parts: Parts
  readonly #purges: Purges<AccountId>

  constructor(parts: Parts) {
    this.#parts = parts
    const find = async (most: number): Promise<AccountId[]> => {
      const waiting = await parts.storage.sql<{ account_id: AccountId }>`
        SELECT account_id FROM account_purges ORDER BY account_id LIMIT ${most}`
      return waiting.map(({ account_id }) => account_id)
    }
    const erase = async (account: AccountId, signal: AbortSignal): Promise<void> => {
      const { storage, clock, erasers } = parts
      for (const eraseIn of erasers) await eraseIn(account, { storage, clock, signal })
      await storage.transaction((sql) => sql`DELETE FROM account_purges WHERE account_id = ${account}`)
    }
    this.#purges = new Purges({ find, erase }, parts.log)
  }

  /**
   * Deletes an account. It is gone at once, for good, even if this fails later. Usually everything it left is
   * erased when this resolves.
   * @param together what to write in the same transaction
   */
  async delete(account: AccountId, together: (sql: Sql) => Promise<void> = async () => {}): Promise<void> {
    const { storage, bus, clock, endings } = this.#parts
    const isNew = await storage.transaction(async (sql) => {
      if (!(await markDeleted(sql, account, clock.now()))) return false // By another request.
      for (const end of endings) await end(sql, account, { clock })
      await together(sql)
      return true
    })
    if (!isNew) return
    bus.ring(account, { kind: 'deleted' })
    await this.#purges.purge(account)
  }

  /** Goes on with what the process before this one did not finish. */
  start(): void {
    this.#purges.start()
  }

  /** Purges deleted accounts that were not purged because the process ended, or because it failed. */
  resume(): Promise<void> {
    return this.#purges.resume()
  }

  /** Stops after the transactions that are running. What is left is for the next process. */
  stop(): Promise<void> {
    return this.#purges.stop()
  }
}
