// The cryptographic primitives under every construction: one interface, and which of its two implementations runs here.
import { type Bytes, concatBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import type { FindNonce } from './nonce-search.ts'
import { webPrimitives } from './web-primitives.ts'

/** AES-256-GCM (NIST SP 800-38D): a 32-byte key and a 12-byte nonce, used together once. The tag follows the ciphertext. */
export interface AesGcmInput {
  readonly key: Uint8Array
  readonly nonce: Uint8Array
  /** What is encrypted, or what was. */
  readonly data: Uint8Array
  readonly additionalData?: Uint8Array
}

/** HKDF-SHA256 (RFC 5869). */
export interface HkdfInput {
  readonly secret: Uint8Array
  readonly salt: Uint8Array
  readonly info: Uint8Array
  /** Of the output, in bytes. */
  readonly length: number
}

/** PBKDF2-HMAC-SHA512 (RFC 8018), 64 bytes of it. */
export interface Pbkdf2Input {
  readonly password: Uint8Array
  readonly salt: Uint8Array
  readonly iterations: number
}

/**
 * What the constructions are made of. Lengths were checked before; private keys are of 32 bytes, Ed25519's being the seed
 * (RFC 8032, section 5.1.5).
 */
export interface Primitives {
  readonly implementation: 'web' | 'noble'
  sha256(bytes: Uint8Array): Promise<Bytes>
  hmacSha512(key: Uint8Array, message: Uint8Array): Promise<Bytes>
  pbkdf2Sha512(input: Pbkdf2Input): Promise<Bytes>
  hkdfSha256(input: HkdfInput): Promise<Bytes>
  encryptAesGcm(input: AesGcmInput): Promise<Bytes>
  /** Rejects where the tag does not fit. */
  decryptAesGcm(input: AesGcmInput): Promise<Bytes>
  ed25519PublicKey(privateKey: Uint8Array): Promise<Bytes>
  /** Valid, but not the same bytes each time everywhere: some browsers mix randomness in. */
  signEd25519(privateKey: Uint8Array, message: Uint8Array): Promise<Bytes>
  /**
   * Whether a signature of 64 bytes fits. The two implementations agree on all that an honest signer can make; of a
   * signature with a part of small order, noble takes some that browsers refuse.
   */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>
  x25519PublicKey(privateKey: Uint8Array): Promise<Bytes>
  /** Rejects, or answers zeros, where the secret would be zeros. */
  x25519SharedSecret(privateKey: Uint8Array, theirPublicKey: Uint8Array): Promise<Bytes>
  /** The proof of work: here because one of them hashes at once, and the other is asked for many hashes at a time. */
  readonly findNonce: FindNonce
}

let loading: Promise<Primitives> | undefined

/**
 * Decides on the primitives, and loads them where they come as a script of their own. Whoever calls it first has no
 * construction fail for a script that could not be loaded. Rejects with `UNAVAILABLE`; the next call tries again.
 */
export async function loadPrimitives(): Promise<Primitives['implementation']> {
  return (await primitives()).implementation
}

/**
 * Works with the primitives and a copy of a secret. The copy is made before anything is awaited: whoever overwrites the
 * secret once the call is made, as those who lock do, never has a key of zeros used in its place.
 */
export async function withSecret<T>(
  secret: Uint8Array,
  work: (primitives: Primitives, secret: Bytes) => Promise<T>,
): Promise<T> {
  const copy = concatBytes(secret)
  try {
    return await work(await primitives(), copy)
  } finally {
    copy.fill(0)
  }
}

/** The primitives of this runtime. */
export function primitives(): Promise<Primitives> {
  loading ??= choosePrimitives(runtimeSubtle()).catch(() => {
    loading = undefined
    throw new CryptoError('UNAVAILABLE', 'the cryptography this runtime lacks could not be loaded')
  })
  return loading
}

/** Those of `subtle` where it has all that is needed, else those of noble, a script of their own. */
export async function choosePrimitives(subtle: SubtleCrypto | undefined): Promise<Primitives> {
  const web = subtle && webPrimitives(subtle)
  if (web && (await isComplete(web))) return web
  const { noblePrimitives } = await import('./noble-primitives.ts')
  return noblePrimitives
}

// Ed25519 and X25519 came to WebCrypto late, Ed25519 to Chromium last of all. The other algorithms are as old as WebCrypto.
async function isComplete(web: Primitives): Promise<boolean> {
  const privateKey = new Uint8Array(32).fill(1)
  try {
    const keys = await Promise.all([web.ed25519PublicKey(privateKey), web.x25519PublicKey(privateKey)])
    return keys.every((key) => key.length === 32)
  } catch {
    return false
  }
}

/** WebCrypto, of browsers only: Node 20 warns of these two algorithms on the console, and scripts there need not be small. */
function runtimeSubtle(): SubtleCrypto | undefined {
  if (typeof process === 'object' && process.versions?.node) return undefined
  // Its type says that it is always there; outside of secure contexts it is not.
  return globalThis.crypto?.subtle
}
