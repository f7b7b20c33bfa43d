// Randomness. It is passed to every part, so that tests control it.

/** Returns cryptographically secure random bytes. */
export type RandomBytes = (length: number) => Uint8Array

/** The operating system's randomness. */
export const systemRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length))

/** An unguessable URL-safe text, made of `length` random bytes. */
export function randomText(randomBytes: RandomBytes, length: number): string {
  return Buffer.from(randomBytes(length)).toString('base64url')
}

/** A random number from 0 to `bound` - 1. All are equally likely. */
export function randomBelow(randomBytes: RandomBytes, bound: number): number {
  const values = 2 ** 48
  const fair = values - (values % bound)
  for (;;) {
    const bytes = randomBytes(6)
    const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
    // Values at or above the last whole multiple of `bound` are drawn again: they would make small results
    // likelier.
    if (value < fair) return value % bound
  }
}

/** A version 4 UUID (RFC 9562, 5.4) in lower case. */
export function randomUuid(randomBytes: RandomBytes): string {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
