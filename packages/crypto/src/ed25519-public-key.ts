// Which Ed25519 public keys a relay registers. A separate entry: it needs curve arithmetic, which browsers do
// not offer and clients do not need.
import { ed25519 } from '@noble/curves/ed25519.js'
import { isBytes } from './bytes.ts'

/**
 * Whether an honest owner can have this key: it is a canonical point of the prime-order group. Never
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
