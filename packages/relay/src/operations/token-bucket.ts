// The token bucket behind every rate: `burst` at once, refilled evenly.
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

  /** Takes one token. @returns 0, or the milliseconds until there is one to take */
  take(now: number): number {
    this.#refill(now)
    if (this.#tokens > 1 - ROUNDING) {
      this.#tokens -= 1
      return 0
    }
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs))
  }

  /** True where it is as good as new. */
  isFull(now: number): boolean {
    this.#refill(now)
    return this.#tokens >= this.#burst
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
  }
}

// Whoever waited as long as it was told must not be told to wait again because of how fractions are added up.
const ROUNDING = 1e-6
