// Random values, from the client's random bytes.
import type { RandomBytes } from '@sotto/crypto'

/** A number from 0 (inclusive) to 1 (exclusive). */
export function randomFraction(random: RandomBytes): number {
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
