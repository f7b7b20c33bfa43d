// Waiting and drawing lots, by the clock and randomness the client was given.
import type { RandomBytes } from '@sotto/crypto'
import type { Clock } from './options.ts'

/** Resolves after `ms`, or at once where the signal is aborted: whoever has one looks at it afterwards. */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

/** A number from 0 (inclusive) to 1 (exclusive). */
function randomFraction(random: RandomBytes): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4)
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32
}

/** A version 4 UUID (RFC 9562) in lower case. */
export function randomUuid(random: RandomBytes): string {
  const bytes = random(16).slice()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** How a wait grows from one failure to the next. */
export interface BackoffOptions {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * Exponential backoff with full jitter: the n-th wait is drawn evenly from zero to `firstMs * 2^n`, at most `maxMs`. Evenly
 * from zero, so that the clients a restart has thrown out do not come back together.
 */
export class Backoff {
  readonly #random: RandomBytes
  readonly #options: BackoffOptions
  #failures = 0

  constructor(random: RandomBytes, options: BackoffOptions) {
    this.#random = random
    this.#options = options
  }

  /** The next wait, in milliseconds. */
  nextMs(): number {
    const { firstMs, maxMs } = this.#options
    const ceiling = Math.min(maxMs, firstMs * 2 ** this.#failures)
    if (ceiling < maxMs) this.#failures += 1
    return Math.floor(randomFraction(this.#random) * ceiling)
  }

  reset(): void {
    this.#failures = 0
  }
}
