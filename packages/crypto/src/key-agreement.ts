// X25519 (RFC 7748), and which public keys it accepts.
import { type Bytes, checkKey, isBytes, readLittleEndian } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

const P = 2n ** 255n - 19n

// The u-coordinates of small order on the curve and its twist: with them the shared secret is zero for
// every private key (RFC 7748, section 6.1; https://cr.yp.to/ecdh.html#validate). Those above P are also
// refused as non-canonical.
const SMALL_ORDER = new Set([
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  P - 1n,
])

/**
 * The 32-byte X25519 shared secret. Rejects with `INVALID_KEY` for wrong lengths and `WEAK_KEY` if the secret
 * would be all zeros. Hash it before use: its bits are not uniform.
 */
export async function agreeSharedSecret(privateKey: Uint8Array, theirPublicKey: Uint8Array): Promise<Bytes> {
  checkKey(privateKey, 'privateKey')
  checkKey(theirPublicKey, 'theirPublicKey')
  return withSecret(privateKey, async ({ x25519SharedSecret }, key) => {
    const secret = await x25519SharedSecret(key, theirPublicKey).catch(() => undefined)
    // Both implementations refuse these too, but this rule must not depend on them.
    if (!secret?.some((byte) => byte !== 0)) throw weakKey()
    return secret
  })
}

/**
 * Whether `bytes` are a usable X25519 public key: 32 bytes, canonical (below 2^255 - 19, so
 * that one key has one encoding and one security code) and not of small order. Never throws; needs no curve
 * arithmetic.
 */
export function isValidX25519PublicKey(bytes: Uint8Array): boolean {
  if (!isBytes(bytes) || bytes.length !== 32) return false
  const u = readLittleEndian(bytes)
  return u < P && !SMALL_ORDER.has(u)
}

function weakKey(): CryptoError {
  return new CryptoError('WEAK_KEY', 'this public key gives an all-zero shared secret')
}
