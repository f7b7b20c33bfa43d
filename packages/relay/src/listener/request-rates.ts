// Enforces the rates of HTTP requests and upgrades. The counts are in memory, so each node counts separately.
import { ProtocolError, type RateName, type Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { TokenBucket } from '../operations/token-bucket.ts'

export class RequestRates {
  readonly #rates: Rates
  readonly #clock: Clock
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(rates: Rates, clock: Clock) {
    this.#rates = rates
    this.#clock = clock
  }

  /**
   * Counts one request of an account or address.
   * @throws ProtocolError `RATE_LIMITED`, with the rate's name and the time to wait
   */
  take(name: RateName, accountOrAddress: string | number): void {
    if (!this.#rates) return
    const now = this.#clock.monotonic()
    const key = `${name} ${accountOrAddress}`
    let bucket = this.#buckets.get(key)
    if (!bucket) {
      bucket = new TokenBucket(this.#rates[name], now)
      this.#buckets.set(key, bucket)
    }
    const waitMs = bucket.take(now)
    if (waitMs > 0) throw new ProtocolError('RATE_LIMITED', { limit: name, retryAfterMs: waitMs })
  }

  /** Drops the counts that are back to unused. */
  dropUnused(): void {
    const now = this.#clock.monotonic()
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key)
  }
}
