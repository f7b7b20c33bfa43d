// The token bucket that enforces every rate: it allows `burst` at once and refills evenly.
import type { RateInForce } from '@sotto/protocol'

export class TokenBucket {
  readonly #burst: number
  readonly #perMs: number
  #tokens: number
  #at: number

  /** @param now monotonic milliseconds */
  constructor(rate: RateInForce, now: number) {
    this.#burst = rate.burst
    this.#perMs = rate.burst / (rate.perSeconds * 1000)
    this.#tokens = rate.burst
    this.#at = now
  }

  /**
   * Takes tokens. A full bucket also gives more than it holds, and then stays empty for longer.
   * @returns 0; or the milliseconds until they are available, and then none was taken
   */
  take(now: number, count = 1): number {
    const waitMs = this.waitMs(now, count)
    if (waitMs === 0) this.#tokens -= count
    return waitMs
  }

  /**
   * Takes tokens whether the bucket has them or not, and then stays empty for longer: for something whose
   * size shows only when it is done.
   * @returns the milliseconds until the bucket owes nothing; 0 if it does not
   */
  charge(now: number, count: number): number {
    this.#refill(now)
    this.#tokens -= count
    return this.waitMs(now, 0)
  }

  /** The milliseconds until tokens are available, without taking them; 0 if they are. */
  waitMs(now: number, count = 1): number {
    this.#refill(now)
    const needed = Math.min(count, this.#burst)
    if (this.#tokens > needed - ROUNDING) return 0
    return Math.max(1, Math.ceil((needed - this.#tokens) / this.#perMs))
  }

  /** Whether the bucket is full, like a new one. */
  isFull(now: number): boolean {
    this.#refill(now)
    return this.#tokens >= this.#burst
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
  }
}

// A client that waited as long as it was told must not have to wait again because of rounding errors.
const ROUNDING = 1e-6
