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

  /** Takes one token. @returns 0; or the milliseconds until one is available, and then none was taken */
  take(now: number): number {
    const waitMs = this.waitMs(now)
    if (waitMs === 0) this.#tokens -= 1
    return waitMs
  }

  /** The milliseconds until a token is available, without taking it; 0 if one is. */
  waitMs(now: number): number {
    this.#refill(now)
    if (this.#tokens > 1 - ROUNDING) return 0
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs))
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
