// Decides whether the machine's clock can be trusted. A clock that was set wrong must not make anything
// expire too early.
import type { Storage } from '../storage/storage.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** If the clock drifts further than this from the monotonic clock, somebody has set it. */
const MOST_DRIFT_MS = 3_600_000
/** The name of the row in relay_state that records lost trust, until the operator removes it. */
const LOST = 'expiry_stopped'

export class ClockTrust {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #log: Log
  /** The time on both clocks when they were last assumed to agree. */
  #agreed: { readonly now: number; readonly monotonic: number }
  #wasLost = false

  constructor(parts: { storage: Storage; clock: Clock; log: Log }) {
    this.#storage = parts.storage
    this.#clock = parts.clock
    this.#log = parts.log
    this.#agreed = this.#read()
  }

  /** Compares the clocks. Lost trust stays lost until {@link trustClockAgain}, also after a restart. */
  async check(): Promise<void> {
    if (await this.isLost()) {
      this.#wasLost = true
      return
    }
    // The operator confirmed that the clock is right, so its present time is the new reference.
    if (this.#wasLost) this.#agreed = this.#read()
    this.#wasLost = false
    if (!this.#hasJumped()) return
    this.#log.error('expiry_stopped', {
      reason: 'the clock jumped; run sotto resume-expiry once it is right',
    })
    const at = new Date(this.#clock.now()).toISOString()
    await this.#storage.transaction(
      (sql) => sql`
        INSERT INTO relay_state (name, value) VALUES (${LOST}, ${at})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    )
    this.#wasLost = true
  }

  /** False as soon as the clock jumps, even before {@link check} notices. */
  async isTrusted(): Promise<boolean> {
    return !(await this.isLost()) && !this.#hasJumped()
  }

  /** Whether trust is lost until the operator restores it. */
  isLost(): Promise<boolean> {
    return isExpiryStopped(this.#storage)
  }

  #hasJumped(): boolean {
    const { now, monotonic } = this.#read()
    return Math.abs(now - this.#agreed.now - (monotonic - this.#agreed.monotonic)) > MOST_DRIFT_MS
  }

  #read(): { now: number; monotonic: number } {
    return { now: this.#clock.now(), monotonic: this.#clock.monotonic() }
  }
}

/** Whether nothing expires until the operator confirms that the clock is right. */
export async function isExpiryStopped({ sql }: Pick<Storage, 'sql'>): Promise<boolean> {
  const rows = await sql`SELECT value FROM relay_state WHERE name = ${LOST}`
  return rows.length > 0
}

/** Restores trust in the clock. Called when the operator confirms that it is right now. */
export async function trustClockAgain(storage: Storage): Promise<void> {
  await storage.transaction((sql) => sql`DELETE FROM relay_state WHERE name = ${LOST}`)
}
