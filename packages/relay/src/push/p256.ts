// Keys on the curve P-256, which Web Push uses for key agreement and signatures. Thin functions over
// node:crypto that take and return bytes.
import { createECDH, createPrivateKey } from 'node:crypto'
import type { RandomBytes } from '../operations/random.ts'

const CURVE = 'prime256v1'
/** The first byte of a point in uncompressed form (both coordinates). */
const UNCOMPRESSED = 4
/**
 * Zero and values at or above the curve's order are not valid keys; about one draw in four billion is
 * invalid.
 */
const MOST_DRAWS = 16

/** A new private key: 32 bytes. */
export function generatePrivateKey(randomBytes: RandomBytes): Uint8Array {
  for (let draw = 0; draw < MOST_DRAWS; draw++) {
    const key = randomBytes(32)
    if (isPrivateKey(key)) return key
  }
  throw new Error('the random source gave no private key')
}

/** The public key of a private key: 65 bytes, uncompressed. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const ecdh = createECDH(CURVE)
  ecdh.setPrivateKey(privateKey)
  return ecdh.getPublicKey()
}

/** Whether the bytes are an uncompressed point on the curve. */
export function isPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 65 || bytes[0] !== UNCOMPRESSED) return false
  const ecdh = createECDH(CURVE)
  ecdh.generateKeys()
  try {
    ecdh.computeSecret(bytes)
    return true
  } catch {
    return false
  }
}

/** The secret two keys agree on: 32 bytes. @throws if the public key is not a point on the curve */
export function sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const ecdh = createECDH(CURVE)
  ecdh.setPrivateKey(privateKey)
  return ecdh.computeSecret(publicKey)
}

/** A private key in PKCS #8 PEM, the form that fast-jwt reads. */
export function privateKeyPem(privateKey: Uint8Array): string {
  const point = Buffer.from(publicKeyOf(privateKey))
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  const [x, y, d] = [text(point.subarray(1, 33)), text(point.subarray(33)), text(privateKey)]
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y, d } })
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function isPrivateKey(bytes: Uint8Array): boolean {
  try {
    createECDH(CURVE).setPrivateKey(bytes)
    return true
  } catch {
    return false
  }
}
