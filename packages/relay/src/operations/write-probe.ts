// Tries to write to the store, to learn whether it takes writes.
import type { Storage } from '../storage/storage.ts'
import type { Clock } from './clock.ts'

/** An attempt counts for this long. */
const EVERY_MS = 1000
/** An attempt that has not ended after this time is given up, and the next caller makes another. */
const GIVEN_UP_MS = 10_000
/** The name of the row in relay_state that the attempts write. */
const ROW = 'last_write_probe'

/** When a relay last wrote to the store to try it, in Unix milliseconds; undefined if none did. */
export async function newestWrite({ sql }: Pick<Storage, 'sql'>): Promise<number | undefined> {
  const [row] = await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = ${ROW}`
  return row && Date.parse(row.value)
}

export class WriteProbe {
  readonly #storage: Storage
  readonly #clock: Clock
  #latest: { readonly at: number; readonly outcome: Promise<void>; isRunning: boolean } | undefined

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage
    this.#clock = clock
  }

  /** Writes a row, once a second at most; in between, the outcome is the latest one. Rejects as writes do. */
  attempt(): Promise<void> {
    const now = this.#clock.monotonic()
    const latest = this.#latest
    if (latest && now - latest.at < (latest.isRunning ? GIVEN_UP_MS : EVERY_MS)) return latest.outcome
    const outcome = this.#write()
    const attempt = { at: now, outcome, isRunning: true }
    const end = (): void => {
      attempt.isRunning = false
    }
    outcome.then(end, end)
    this.#latest = attempt
    return outcome
  }

  /**
   * Whether the store has space for new data. A row that is written in place does not show that on
   * PostgreSQL, whose disk the relay cannot see. So it also makes PostgreSQL write a temporary file of some
   * MiB, which leaves nothing behind.
   */
  async showsSpace(): Promise<boolean> {
    try {
      if (this.#storage.engine.dialect === 'postgres') {
        await this.#storage.unsyncedTransaction(async (sql) => {
          await sql`SET LOCAL work_mem = '64kB'`
          // Empty means: where the database itself is.
          await sql`SET LOCAL temp_tablespaces = ''`
          await sql`SELECT COUNT(*) AS count FROM generate_series(1, 200000)`
        })
      }
      await this.#write()
      return true
    } catch {
      return false
    }
  }

  async #write(): Promise<void> {
    const at = new Date(this.#clock.now()).toISOString()
    await this.#storage.transaction(
      (sql) => sql`
        INSERT INTO relay_state (name, value) VALUES (${ROW}, ${at})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    )
  }
}
