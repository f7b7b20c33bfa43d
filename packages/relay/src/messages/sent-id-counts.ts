// How many new message ids each account has used today. An id is remembered for months, so an account can
// use only so many of them a day. Counted in memory, because every batch would have to write a count in the
// store.
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Storage } from '../storage/storage.ts'

const DAY_MS = 86_400_000
/**
 * Accounts that used less than this share of their bound are not stored. So an account with ordinary traffic
 * costs no write, and a restart forgets at most this share.
 */
const STORED_FROM_SHARE = 0.02

interface Count {
  day: number
  used: number
  /** How much of `used` is not stored yet. */
  unsaved: number
}

/** The new ids of one commit. A commit that fails uses none, however often its messages are sent again. */
export interface CommitCounts {
  /** Counts a new id of an account. @throws ProtocolError `RATE_LIMITED` beyond the bound */
  count(account: AccountId, now: number): void
  /** Keeps what was counted. Call it when the commit has succeeded. */
  keep(): void
}

/** The new ids of each account on the present day, by UTC. */
export class SentIdCounts {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #mostPerDay: number
  readonly #counts = new Map<AccountId, Count>()

  constructor(parts: { storage: Storage; clock: Clock; limits: Pick<Limits, 'sentIdsPerDay'> }) {
    this.#storage = parts.storage
    this.#clock = parts.clock
    this.#mostPerDay = parts.limits.sentIdsPerDay
  }

  /** Reads the stored counts. Call it once, before the first frame. */
  async load(): Promise<void> {
    const day = dayOf(this.#clock.now())
    const rows = await this.#storage.sql<{ account_id: AccountId; used: number }>`
      SELECT account_id, used FROM sent_id_counts WHERE day = ${day}`
    for (const { account_id, used } of rows) this.#counts.set(account_id, { day, used, unsaved: 0 })
  }

  /** Begins to count the ids of one commit. */
  ofCommit(): CommitCounts {
    const added = new Map<Count, number>()
    return {
      count: (account, now) => {
        const day = dayOf(now)
        const count = this.#countOf(account, day)
        const more = added.get(count) ?? 0
        if (count.used + more >= this.#mostPerDay) {
          throw new ProtocolError('RATE_LIMITED', {
            limit: 'sentIdsPerDay',
            retryAfterMs: (day + 1) * DAY_MS - now,
          })
        }
        added.set(count, more + 1)
      },
      keep: () => {
        for (const [count, more] of added) {
          count.used += more
          count.unsaved += more
        }
      },
    }
  }

  #countOf(account: AccountId, day: number): Count {
    const known = this.#counts.get(account)
    if (known?.day === day) return known
    const count = { day, used: 0, unsaved: 0 }
    this.#counts.set(account, count)
    return count
  }

  /** Stores the counts that changed, and drops those of past days. */
  async save(): Promise<void> {
    const today = dayOf(this.#clock.now())
    const changed: { account: AccountId; count: Count; added: number }[] = []
    for (const [account, count] of this.#counts) {
      if (count.day < today) this.#counts.delete(account)
      else if (count.unsaved > 0 && count.used >= this.#mostPerDay * STORED_FROM_SHARE)
        changed.push({ account, count, added: count.unsaved })
    }
    // All transactions lock rows in the order of their accounts, so that none waits in a circle.
    changed.sort((a, b) => a.account - b.account)
    // With what other nodes have stored.
    const totals = await this.#storage.transaction(async (sql) => {
      const found: { count: Count; added: number; used: number }[] = []
      await sql`DELETE FROM sent_id_counts WHERE day < ${today}`
      for (const { account, count, added } of changed) {
        const [row] = await sql<{ used: number }>`
          INSERT INTO sent_id_counts (account_id, day, used) VALUES (${account}, ${count.day}, ${added})
          ON CONFLICT (account_id) DO UPDATE SET day = excluded.day,
            used = CASE WHEN sent_id_counts.day = excluded.day THEN sent_id_counts.used + excluded.used
              ELSE excluded.used END
          RETURNING used`
        found.push({ count, added, used: row?.used ?? added })
      }
      return found
    })
    for (const { count, added, used } of totals) {
      count.unsaved -= added
      count.used = used + count.unsaved
    }
  }
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS)
}
