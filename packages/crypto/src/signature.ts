// Ed25519 signatures (RFC 8032), verified strictly.
import { ed25519 } from '@noble/curves/ed25519.js'
import { isBytes } from '@noble/hashes/utils.js'
import { type Bytes, checkBytes, checkKey, encodeUtf8 } from './bytes.ts'

/** The 64-byte Ed25519 signature of `message` (a text stands for its UTF-8). Throws `INVALID_KEY`. */
export function sign(privateKey: Uint8Array, message: Uint8Array | string): Bytes {
  checkKey(privateKey, 'privateKey')
  const bytes = typeof message === 'string' ? encodeUtf8(message) : message
  checkBytes(bytes, 'message')
  return ed25519.sign(bytes, privateKey)
}

/**
 * Whether `signature` is the holder of `publicKey`'s over `message`. Never throws: whatever is malformed is
 * false.
 *
 * Strict: unreduced scalars and non-canonical points (RFC 8032, section 5.1.7) are refused, so a signature
 * cannot be rewritten into another valid one, and so are public keys of small order, for which one signature
 * can fit any message.
 */
export function verifySignature(
  publicKey: Uint8Array,
  message: Uint8Array | string,
  signature: Uint8Array,
): boolean {
  try {
    const bytes = typeof message === 'string' ? encodeUtf8(message) : message
    return ed25519.verify(signature, bytes, publicKey, { zip215: false })
  } catch {
    return false
  }
}

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
