// The search for a nonce with noble, which hashes synchronously. It imports nothing that a page has already
// loaded: bundlers would put that into a separate script that every page loads.
import { sha256 } from '@noble/hashes/sha2.js'
import type { FindNonceInput } from './nonce-search.ts'

const ASCII_ZERO = 48
const ASCII_NINE = 57

/** See `FindNonce`. */
export function findNonce({ challenge, isSolution, from, count }: FindNonceInput): number | undefined {
  // The challenge is hashed once and its state is copied for each nonce. Nonces are counted as ASCII digits
  // in place. Both are for speed: only here does a phone's user wait for this package.
  const begun = sha256.create().update(challenge)
  const attempt = begun.clone()
  const digest = new Uint8Array(32)
  let digits = Uint8Array.from(String(from), (digit) => ASCII_ZERO + Number(digit))
  for (let nonce = from; nonce < from + count; nonce += 1) {
    begun._cloneInto(attempt)
    attempt.update(digits).digestInto(digest)
    if (isSolution(digest)) return nonce
    digits = increment(digits)
  }
  return undefined
}

function increment(digits: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  for (let at = digits.length - 1; at >= 0; at -= 1) {
    const digit = digits[at] ?? ASCII_ZERO
    if (digit < ASCII_NINE) {
      digits[at] = digit + 1
      return digits
    }
    digits[at] = ASCII_ZERO
  }
  const longer = new Uint8Array(digits.length + 1).fill(ASCII_ZERO)
  longer[0] = ASCII_ZERO + 1
  return longer
}
