// Ends orders within seconds of the moment that the rules allow, by knowing when the next one ends and how
// far the payments are known.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { TurnOver } from '../operations/turns.ts'
import { isDiskFull, type Storage } from '../storage/storage.ts'

/** How often the next end is compared with the clock. This reads nothing from the store. */
const CHECK_EVERY_MS = 1000
/** At most this often, orders that are overdue are looked at again after the providers learned more. */
const RETRY_EVERY_MS = 2000
/**
 * How often the next end is read again, because another node may have placed an order. An order lasts at
 * least ten seconds.
 */
const READ_EVERY_MS = 4000

interface OrderEndsParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  /** Resolves to false while the clock is not trusted; then no order ends. */
  readonly isClockTrusted: () => Promise<boolean>
  /** Up to which time each provider knows all payments. */
  readonly seenUntil: (now: number) => readonly number[]
  /** Ends every order that is over. */
  readonly sweep: () => Promise<void>
}

/** Watches for the end of orders. */
export class OrderEnds {
  readonly #parts: OrderEndsParts
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** Up to this time all pending orders were swept. */
  #sweptUntil = Number.NEGATIVE_INFINITY
  /** Whether the last sweep left orders pending whose time is over. */
  #hasOverdue = false
  /** The end of the first pending order that the last sweep did not reach. */
  #next = Number.NEGATIVE_INFINITY
  #readAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  /** What the providers knew at the last sweep. */
  #seen = ''

  constructor(parts: OrderEndsParts) {
    this.#parts = parts
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Ends the orders that are over. Does nothing if no order can have become so since the last time. */
  async check(): Promise<void> {
    const { clock, seenUntil, isClockTrusted, sweep } = this.#parts
    const now = clock.now()
    const seen = seenUntil(now).join(' ')
    if (clock.monotonic() - this.#readAt >= READ_EVERY_MS) await this.#readNext()
    const mayTryAgain = seen !== this.#seen && clock.monotonic() - this.#triedAt >= RETRY_EVERY_MS
    if (now <= this.#next && !(this.#hasOverdue && mayTryAgain)) return
    this.#triedAt = clock.monotonic()
    if (!(await isClockTrusted())) return
    await sweep()
    this.#seen = seen
    this.#sweptUntil = now
    await this.#readNext()
  }

  async #run(): Promise<void> {
    const { log } = this.#parts
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let waitMs = CHECK_EVERY_MS
      try {
        await this.check()
      } catch (error) {
        waitMs = READ_EVERY_MS
        if (!(isDiskFull(error) || error instanceof TurnOver)) log.error('order_sweep_failed', { error })
      }
      await pause(waitMs, undefined, { signal }).catch(() => undefined) // stop() ends the pause early.
    }
  }

  async #readNext(): Promise<void> {
    const { sql } = this.#parts.storage
    const [first] = await sql<{ at: number | null }>`
      SELECT MIN(expires_at) AS at FROM orders WHERE status = 'pending'`
    const [next] = await sql<{ at: number | null }>`
      SELECT MIN(expires_at) AS at FROM orders WHERE status = 'pending' AND expires_at >= ${this.#sweptUntil}`
    this.#hasOverdue = first?.at != null && first.at < this.#sweptUntil
    this.#next = next?.at ?? Number.POSITIVE_INFINITY
    this.#readAt = this.#parts.clock.monotonic()
  }
}
