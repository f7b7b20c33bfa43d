// The interface of ML-KEM-768 (FIPS 203), which both implementations provide, and its lengths.
import type { Bytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/** Lengths of ML-KEM-768 in bytes (FIPS 203, table 3). The private key is its seed, `d || z`. */
export const ML_KEM_SEED_BYTES = 64
export const ML_KEM_PUBLIC_KEY_BYTES = 1184
export const ML_KEM_CIPHERTEXT_BYTES = 1088

/** One implementation of ML-KEM-768. */
export interface MlKem768 {
  readonly implementation: 'web' | 'noble'
  /** The public key (1,184 bytes) of a seed (64 bytes). */
  publicKey(seed: Uint8Array): Promise<Bytes>
  /**
   * A new shared secret (32 bytes) and the ciphertext (1,088 bytes) that carries it. Rejects with
   * `INVALID_KEY` if the public key is not one (FIPS 203, section 7.2).
   */
  encapsulate(publicKey: Uint8Array): Promise<{ sharedSecret: Bytes; ciphertext: Bytes }>
  /**
   * The shared secret of a ciphertext. An altered ciphertext of the right length gives another secret, not an
   * error (FIPS 203, algorithm 21). Rejects with `INVALID_ARGUMENT` if the length is wrong.
   */
  decapsulate(seed: Uint8Array, ciphertext: Uint8Array): Promise<Bytes>
}

/** Checks the length of an input of ML-KEM. */
export function checkMlKemLength(value: Uint8Array, what: string, length: number): void {
  const code = what === 'the ciphertext' ? 'INVALID_ARGUMENT' : 'INVALID_KEY'
  if (value.length !== length) throw new CryptoError(code, `${what} must be ${length} bytes`)
}
