// Ed25519 signatures (RFC 8032), verified strictly.
import { type Bytes, checkBytes, checkKey, encodeUtf8, isBytes, readLittleEndian } from './bytes.ts'
import { primitives, withSecret } from './primitives.ts'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const P = 2n ** 255n - 19n

// The y-coordinates of the eight points of small order. With such a key, one signature can be valid for any
// message.
const SMALL_ORDER = new Set([
  0n,
  1n,
  0x05fc536d880238b13933c6d3acdfd5f098eff289f4c345b027b2c228e8958f26n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
  P - 1n,
])

/** The 64-byte Ed25519 signature of `message` (a text is signed as UTF-8). Rejects with `INVALID_KEY`. */
export async function sign(privateKey: Uint8Array, message: Uint8Array | string): Promise<Bytes> {
  checkKey(privateKey, 'privateKey')
  const bytes = typeof message === 'string' ? encodeUtf8(message) : message
  checkBytes(bytes, 'message')
  return withSecret(privateKey, ({ signEd25519 }, key) => signEd25519(key, bytes))
}

/**
 * Whether `signature` is valid for `publicKey` and `message`; false for any malformed input.
 *
 * Strict: it refuses unreduced scalars and non-canonical points (RFC 8032, section 5.1.7), so a signature
 * cannot be changed into another valid one. It also refuses public keys of small order, with which one
 * signature can be valid for any message.
 */
export async function verifySignature(
  publicKey: Uint8Array,
  message: Uint8Array | string,
  signature: Uint8Array,
): Promise<boolean> {
  const bytes = typeof message === 'string' ? encodeUtf8(message) : message
  if (!isBytes(bytes) || !isBytes(signature) || signature.length !== SIGNATURE_BYTES) return false
  if (!isBytes(publicKey) || publicKey.length !== KEY_BYTES) return false
  // WebCrypto implementations differ in which of these they refuse.
  const y = readLittleEndian(publicKey) % 2n ** 255n
  if (y >= P || SMALL_ORDER.has(y)) return false
  const { verifyEd25519 } = await primitives()
  try {
    return await verifyEd25519(publicKey, bytes, signature)
  } catch {
    return false
  }
}
