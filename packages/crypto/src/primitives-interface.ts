// The interface of the cryptographic primitives, which both implementations provide.
import type { Bytes } from './bytes.ts'
import type { FindNonce } from './nonce-search.ts'

/**
 * AES-256-GCM (NIST SP 800-38D): a 32-byte key and a 12-byte nonce, used together once. The tag follows the
 * ciphertext.
 */
export interface AesGcmInput {
  readonly key: Uint8Array
  readonly nonce: Uint8Array
  /** The plaintext, or the ciphertext and tag. */
  readonly data: Uint8Array
  readonly additionalData?: Uint8Array
}

/** HKDF-SHA256 (RFC 5869). */
export interface HkdfInput {
  readonly secret: Uint8Array
  readonly salt: Uint8Array
  readonly info: Uint8Array
  /** Length of the output in bytes. */
  readonly length: number
}

/** PBKDF2-HMAC-SHA512 (RFC 8018) with 64 bytes of output. */
export interface Pbkdf2Input {
  readonly password: Uint8Array
  readonly salt: Uint8Array
  readonly iterations: number
}

/**
 * The primitives of all constructions. Callers have checked the lengths. Private keys have 32 bytes;
 * Ed25519's is the seed (RFC 8032, section 5.1.5).
 */
export interface Primitives {
  readonly implementation: 'web' | 'noble'
  sha256(bytes: Uint8Array): Promise<Bytes>
  hmacSha512(key: Uint8Array, message: Uint8Array): Promise<Bytes>
  pbkdf2Sha512(input: Pbkdf2Input): Promise<Bytes>
  hkdfSha256(input: HkdfInput): Promise<Bytes>
  encryptAesGcm(input: AesGcmInput): Promise<Bytes>
  /** Rejects if the tag is wrong. */
  decryptAesGcm(input: AesGcmInput): Promise<Bytes>
  ed25519PublicKey(privateKey: Uint8Array): Promise<Bytes>
  /** Valid, but not always the same bytes: some browsers add randomness. */
  signEd25519(privateKey: Uint8Array, message: Uint8Array): Promise<Bytes>
  /**
   * Whether a signature of 64 bytes is valid. The two implementations agree on every honest signature. Of
   * signatures with a component of small order, noble accepts some that browsers refuse.
   */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>
  x25519PublicKey(privateKey: Uint8Array): Promise<Bytes>
  /** Rejects or returns zeros if the secret would be zeros. */
  x25519SharedSecret(privateKey: Uint8Array, theirPublicKey: Uint8Array): Promise<Bytes>
  /**
   * The proof of work. It is here because noble hashes synchronously, while WebCrypto computes many hashes at
   * a time.
   */
  readonly findNonce: FindNonce
}
