// The primitives in JavaScript, for Bun, Node, and runtimes with incomplete WebCrypto:
// https://paulmillr.com/noble/
import { gcm } from '@noble/ciphers/aes.js'
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { pbkdf2Async } from '@noble/hashes/pbkdf2.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { findNonce } from './noble-nonce.ts'
import type { AesGcmInput, Primitives } from './primitives-interface.ts'

/**
 * From this length on, the platform's WebCrypto does AES-GCM if there is one: for 16 kB noble takes thirty
 * times as long. For a short message it takes no longer, and needs no other thread.
 */
const LONG_BYTES = 2048

/**
 * The primitives of noble, with what the platform does faster, if there is one: AES-GCM of long data, and in
 * Bun Ed25519, which takes noble ten times as long. Node prints a warning for that curve.
 */
export function noblePrimitivesWith(platform: Primitives | undefined, isBun = runsInBun()): Primitives {
  if (!platform) return noblePrimitives
  const of = ({ data }: AesGcmInput): Primitives => (data.length < LONG_BYTES ? noblePrimitives : platform)
  return {
    ...noblePrimitives,
    ...(isBun && { signEd25519: platform.signEd25519, verifyEd25519: platform.verifyEd25519 }),
    encryptAesGcm: (input) => of(input).encryptAesGcm(input),
    decryptAesGcm: (input) => of(input).decryptAesGcm(input),
  }
}

function runsInBun(): boolean {
  return typeof process === 'object' && process.versions?.bun !== undefined
}

/** The primitives of noble alone. */
export const noblePrimitives: Primitives = {
  implementation: 'noble',
  sha256: async (bytes) => sha256(bytes),
  hmacSha512: async (key, message) => hmac(sha512, key, message),
  pbkdf2Sha512: ({ password, salt, iterations }) =>
    pbkdf2Async(sha512, password, salt, { c: iterations, dkLen: 64 }),
  hkdfSha256: async ({ secret, salt, info, length }) => hkdf(sha256, secret, salt, info, length),
  encryptAesGcm: async ({ key, nonce, data, additionalData }) =>
    gcm(key, nonce, additionalData).encrypt(data),
  decryptAesGcm: async ({ key, nonce, data, additionalData }) =>
    gcm(key, nonce, additionalData).decrypt(data),
  ed25519PublicKey: async (privateKey) => ed25519.getPublicKey(privateKey),
  signEd25519: async (privateKey, message) => ed25519.sign(message, privateKey),
  verifyEd25519: async (publicKey, message, signature) =>
    ed25519.verify(signature, message, publicKey, { zip215: false }),
  x25519PublicKey: async (privateKey) => x25519.getPublicKey(privateKey),
  x25519SharedSecret: async (privateKey, theirPublicKey) =>
    x25519.getSharedSecret(privateKey, theirPublicKey),
  findNonce,
}
