// Logging an account out everywhere: all its tokens and connections end.
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { tokenIdEnd } from './token-ids.ts'

/** The clock of the node that wrote a logout may differ from this one by this much. */
const MOST_CLOCK_DIFFERENCE_MS = 3_600_000

interface Parts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
}

/**
 * Makes every token of an account dead, also the one of the caller and those of logins that are running.
 * @param together what to write in the same transaction
 */
export async function logOutEverywhere(
  account: AccountId,
  { storage, bus, clock }: Parts,
  together: (sql: Sql) => Promise<void> = async () => {},
): Promise<void> {
  const loggedOutAt = await storage.transaction(async (sql) => {
    await together(sql)
    return await endTokens(sql, account, clock.now())
  })
  if (loggedOutAt !== undefined) tellConnections(bus, account, loggedOutAt)
}

/**
 * Makes every token of an account dead. Tickets stay: one of a dead token opens a WebSocket that says so, as
 * published clients expect. @returns the account's `logged_out_at`; undefined if there is no such account
 */
export async function endTokens(sql: Sql, account: AccountId, now: number): Promise<number | undefined> {
  const [row] = await sql<{ logged_out_at: number }>`
    UPDATE accounts
    SET logged_out_at = CASE WHEN logged_out_at >= ${now} THEN logged_out_at + 1 ELSE ${now} END
    WHERE id = ${account} AND deleted_at IS NULL RETURNING logged_out_at`
  return row?.logged_out_at
}

function tellConnections(bus: Bus, account: AccountId, loggedOutAt: number): void {
  bus.ring(account, { kind: 'logged_out', exceptTokensEndingIn: tokenIdEnd(loggedOutAt) })
}

/** Finds logouts that this node was not told of: from another node, or by a command on the store. */
export class LogoutWatch {
  readonly #parts: Parts
  #from: number

  constructor(parts: Parts) {
    this.#parts = parts
    this.#from = parts.clock.now() - MOST_CLOCK_DIFFERENCE_MS
  }

  /** Closes the connections of accounts that have logged out since the last check, perhaps again. */
  async check(): Promise<void> {
    const { storage, bus, clock } = this.#parts
    const now = clock.now()
    const rows = await storage.sql<{ id: AccountId; logged_out_at: number }>`
      SELECT id, logged_out_at FROM accounts WHERE logged_out_at > 0 AND logged_out_at > ${this.#from}`
    this.#from = now - MOST_CLOCK_DIFFERENCE_MS
    for (const { id, logged_out_at } of rows) tellConnections(bus, id, logged_out_at)
  }
}
