// Which Ed25519 public keys a relay registers. An entry of its own: it takes arithmetic on the curve, of which no browser's
// cryptography has any, and clients do not ask.
import { ed25519 } from '@noble/curves/ed25519.js'
import { isBytes } from './bytes.ts'

/**
 * Whether `bytes` are a key that an honest holder can have: a canonical point of the prime-order group. Never
 * throws; costs about as much as verifying a signature.
 */
export function isValidEd25519PublicKey(bytes: Uint8Array): boolean {
  if (!isBytes(bytes) || bytes.length !== 32) return false
  try {
    const point = ed25519.Point.fromBytes(bytes, false)
    return !point.isSmallOrder() && point.isTorsionFree()
  } catch {
    return false
  }
}
