// Exponential backoff with full jitter: how long to wait before the next attempt.
import type { RandomBytes } from '@sotto/crypto'
import { randomFraction } from './random.ts'

/** The first and the longest wait of a backoff. */
export interface BackoffOptions {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * Exponential backoff with full jitter: the n-th wait is uniformly random between zero and `firstMs * 2^n`,
 * at most `maxMs`. So clients that a restart has disconnected do not reconnect all at once.
 */
export class Backoff {
  readonly #random: RandomBytes
  readonly #options: BackoffOptions
  #failures = 0

  constructor(random: RandomBytes, options: BackoffOptions) {
    this.#random = random
    this.#options = options
  }

  /**
   * The next wait in milliseconds. If `askedMs`, which the relay asks for, is longer, that; at most `maxMs`.
   */
  nextMs(askedMs = 0): number {
    const { firstMs, maxMs } = this.#options
    const ceiling = Math.min(maxMs, firstMs * 2 ** this.#failures)
    if (ceiling < maxMs) this.#failures += 1
    return Math.max(Math.floor(randomFraction(this.#random) * ceiling), Math.min(askedMs, maxMs))
  }

  reset(): void {
    this.#failures = 0
  }
}
