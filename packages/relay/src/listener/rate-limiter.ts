// Rates of HTTP requests, kept in memory: each node counts for itself.
import { ProtocolError, type RateName, type Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { TokenBucket } from '../operations/token-bucket.ts'

export class RateLimiter {
  readonly #rates: Rates
  readonly #clock: Clock
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(rates: Rates, clock: Clock) {
    this.#rates = rates
    this.#clock = clock
  }

  /**
   * Counts one request of `whom`.
   * @throws ProtocolError `RATE_LIMITED`, with the rate's name and when to come back
   */
  take(name: RateName, whom: string | number): void {
    if (!this.#rates) return
    const now = this.#clock.monotonic()
    const key = `${name} ${whom}`
    let bucket = this.#buckets.get(key)
    if (!bucket) {
      bucket = new TokenBucket(this.#rates[name], now)
      this.#buckets.set(key, bucket)
    }
    const waitMs = bucket.take(now)
    if (waitMs > 0) throw new ProtocolError('RATE_LIMITED', { limit: name, retryAfterMs: waitMs })
  }

  /** Forgets whoever has not used any of their rates for a while. */
  forget(): void {
    const now = this.#clock.monotonic()
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key)
  }
}
