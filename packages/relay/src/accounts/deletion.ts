// Deletes accounts. From one transaction on, the account is gone; what it left in other features is erased
// afterwards, in short transactions, so that an account with thousands of friends stops nobody. A row says
// which accounts are not purged yet, so that another process can go on.
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { Sliced } from '../operations/slices.ts'
import { within } from '../operations/within.ts'
import { workThrough } from '../operations/work-through.ts'
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

/** A request to delete an account waits this long for the purge, which then goes on without it. */
const MOST_WAIT_MS = 10_000
/** How many accounts one pass of {@link AccountDeletion.resume} purges. */
const MOST_PER_PASS = 500

export class AccountDeletion {
  readonly #parts: Parts
  readonly #purging = new Map<AccountId, Promise<void>>()
  readonly #stopping = new AbortController()
  #started: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Deletes an account. It is gone at once, for good, even if this fails later. Usually everything it left is
   * erased when this resolves.
   */
  async delete(account: AccountId): Promise<void> {
    const { storage, bus, clock, endings } = this.#parts
    const isNew = await storage.transaction(async (sql) => {
      if (!(await markDeleted(sql, account, clock.now()))) return false // By another request.
      for (const end of endings) await end(sql, account, { clock })
      return true
    })
    if (!isNew) return
    bus.ring(account, { kind: 'deleted' })
    await within(
      MOST_WAIT_MS,
      this.#purge(account).catch((error: unknown) => this.#failed(error)),
    )
  }

  /** Goes on with what the process before this one did not finish. */
  start(): void {
    this.#started = this.resume().catch((error: unknown) => this.#failed(error))
  }

  /** Purges deleted accounts that were not purged because the process ended, or because it failed. */
  async resume(): Promise<void> {
    const { signal } = this.#stopping
    const waiting = await this.#parts.storage.sql<{ account_id: AccountId }>`
      SELECT account_id FROM account_purges ORDER BY account_id LIMIT ${MOST_PER_PASS}`
    const onFailure = (error: unknown): void => this.#failed(error)
    await workThrough(waiting, ({ account_id }) => this.#purge(account_id), { onFailure, signal })
  }

  /** Stops after the transactions that are running. What is left is for the next process. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#started
    await Promise.allSettled(this.#purging.values())
  }

  #failed(error: unknown): void {
    if (!this.#stopping.signal.aborted) this.#parts.log.error('purge_failed', { error })
  }

  async #purge(account: AccountId): Promise<void> {
    let running = this.#purging.get(account)
    if (!running) {
      running = this.#eraseAll(account).finally(() => this.#purging.delete(account))
      this.#purging.set(account, running)
    }
    await running
  }

  async #eraseAll(account: AccountId): Promise<void> {
    const { storage, erasers } = this.#parts
    const sliced = { ...this.#parts, signal: this.#stopping.signal }
    for (const erase of erasers) await erase(account, sliced)
    await storage.transaction((sql) => sql`DELETE FROM account_purges WHERE account_id = ${account}`)
  }
}
