// What a guess of a passphrase costs: one rule for stores and archives.
import type { PassphraseCost } from '@sotto/crypto/passphrase-key'

/** The cost of one guess: 128 MiB of memory and most of a second. */
export const PASSPHRASE_COST = { n: 2 ** 17, r: 8, p: 1 } as const

const MAX_N = 2 ** 18
const MAX_P = 4

/**
 * Whether a stored cost is within the bounds: this program never wrote a lower one, and a higher one could
 * exhaust the device's memory or time.
 */
export function isAllowedCost({ n, r, p }: PassphraseCost): boolean {
  return (
    Number.isInteger(Math.log2(n)) &&
    n >= PASSPHRASE_COST.n &&
    n <= MAX_N &&
    r === PASSPHRASE_COST.r &&
    Number.isInteger(p) &&
    p >= PASSPHRASE_COST.p &&
    p <= MAX_P
  )
}
