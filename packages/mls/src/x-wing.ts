// X-Wing, the hybrid of X25519 and ML-KEM-768: draft-connolly-cfrg-xwing-kem-09, section 5.

import { sha3_256, shake256 } from '@noble/hashes/sha3.js'
import { type Bytes, bytesToHex, CryptoError } from '@sotto/crypto'
import type { MlKem768 } from '@sotto/crypto/ml-kem'
import type { Primitives } from '@sotto/crypto/primitives'
import { concatBytes } from './bytes.ts'

/** Lengths in bytes (section 5.1). The private key is a seed. */
const X_WING_PRIVATE_KEY_BYTES = 32
const X_WING_PUBLIC_KEY_BYTES = 1216
const X_WING_CIPHERTEXT_BYTES = 1120

const ML_KEM_PUBLIC_KEY_BYTES = 1184
const ML_KEM_CIPHERTEXT_BYTES = 1088
/** `\.//^\`, six bytes (section 5.3). */
const LABEL = Uint8Array.from([0x5c, 0x2e, 0x2f, 0x2f, 0x5e, 0x5c])
const ZERO_SECRET = '00'.repeat(32)

/** What X-Wing is made of. */
export interface XWingParts {
  readonly primitives: Primitives
  readonly mlKem: MlKem768
  readonly randomBytes: (length: number) => Bytes
}

/** X-Wing over the given implementations of its parts. */
export class XWing {
  readonly #parts: XWingParts

  constructor(parts: XWingParts) {
    this.#parts = parts
  }

  /** The public key of a private one (section 5.2). */
  async publicKey(privateKey: Uint8Array): Promise<Bytes> {
    const { seed, scalar } = expand(privateKey)
    try {
      const { mlKem, primitives } = this.#parts
      return concatBytes(await mlKem.publicKey(seed), await primitives.x25519PublicKey(scalar))
    } finally {
      wipe(seed, scalar)
    }
  }

  /**
   * A new secret of 32 bytes and the ciphertext that carries it (section 5.4). Rejects with a `CryptoError`
   * if the public key is malformed or weak.
   */
  async encapsulate(publicKey: Uint8Array): Promise<{ secret: Bytes; ciphertext: Bytes }> {
    const { mlKem, primitives, randomBytes } = this.#parts
    checkLength(publicKey, 'the public key', X_WING_PUBLIC_KEY_BYTES)
    const theirs = publicKey.slice(ML_KEM_PUBLIC_KEY_BYTES)
    const ephemeral = randomBytes(32)
    try {
      const sent = await primitives.x25519PublicKey(ephemeral)
      const classical = await agree(primitives, ephemeral, theirs)
      const { sharedSecret, ciphertext } = await mlKem.encapsulate(
        publicKey.slice(0, ML_KEM_PUBLIC_KEY_BYTES),
      )
      const secret = combine(sharedSecret, classical, sent, theirs)
      wipe(sharedSecret, classical)
      return { secret, ciphertext: concatBytes(ciphertext, sent) }
    } finally {
      wipe(ephemeral)
    }
  }

  /** The secret of a ciphertext (section 5.5). Rejects with a `CryptoError` if it is malformed or weak. */
  async decapsulate(privateKey: Uint8Array, ciphertext: Uint8Array): Promise<Bytes> {
    const { mlKem, primitives } = this.#parts
    checkLength(ciphertext, 'the ciphertext', X_WING_CIPHERTEXT_BYTES)
    const { seed, scalar } = expand(privateKey)
    try {
      const sent = ciphertext.slice(ML_KEM_CIPHERTEXT_BYTES)
      const classical = await agree(primitives, scalar, sent)
      const quantum = await mlKem.decapsulate(seed, ciphertext.slice(0, ML_KEM_CIPHERTEXT_BYTES))
      const secret = combine(quantum, classical, sent, await primitives.x25519PublicKey(scalar))
      wipe(quantum, classical)
      return secret
    } finally {
      wipe(seed, scalar)
    }
  }
}

/** A private key of any secret material (section 5.6, `DeriveKeyPair`). */
export function derivePrivateKey(material: Uint8Array): Bytes {
  return bytesOf(shake256(material, { dkLen: X_WING_PRIVATE_KEY_BYTES }))
}

function expand(privateKey: Uint8Array): { seed: Bytes; scalar: Bytes } {
  checkLength(privateKey, 'the private key', X_WING_PRIVATE_KEY_BYTES)
  const expanded = shake256(privateKey, { dkLen: 96 })
  const parts = { seed: bytesOf(expanded.slice(0, 64)), scalar: bytesOf(expanded.slice(64)) }
  expanded.fill(0)
  return parts
}

/**
 * X-Wing does not ask for it, but a secret of zeros comes only from a key that nobody owns (RFC 7748, section
 * 6.1), and the implementations differ in whether they reject or return it.
 */
async function agree(primitives: Primitives, mine: Uint8Array, theirs: Uint8Array): Promise<Bytes> {
  const secret = await primitives.x25519SharedSecret(mine, theirs).catch((error: unknown) => {
    if (error instanceof Error && /zero|weak|low order|small order|invalid/i.test(error.message))
      return undefined
    if (error instanceof DOMException && error.name === 'OperationError') return undefined
    throw error
  })
  if (secret === undefined || bytesToHex(secret) === ZERO_SECRET)
    throw new CryptoError('WEAK_KEY', 'the X25519 key gives a secret of zeros')
  return secret
}

function combine(quantum: Bytes, classical: Bytes, sent: Bytes, publicKey: Bytes): Bytes {
  return bytesOf(sha3_256(concatBytes(quantum, classical, sent, publicKey, LABEL)))
}

function checkLength(value: Uint8Array, what: string, length: number): void {
  if (value.length !== length) throw new CryptoError('INVALID_KEY', `${what} must be ${length} bytes`)
}

function bytesOf(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes)
}

function wipe(...secrets: Uint8Array[]): void {
  for (const secret of secrets) secret.fill(0)
}
