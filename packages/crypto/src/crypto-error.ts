// The only error class of this package, and the closed list of its codes.

/**
 * The kind of failure. Callers decide by the code. The message is for developers and never contains key
 * material, plaintext or any other input.
 *
 * - `INVALID_ARGUMENT`: a parameter of the wrong type, length or range; the caller has a bug.
 * - `INVALID_ENCODING`: text that is not canonical Base64, Base64url or hex, or bytes that no construction
 *   writes.
 * - `INVALID_PHRASE`: not 12 BIP-39 English words with a valid checksum.
 * - `INVALID_PATH`: not a derivation path with every level hardened.
 * - `INVALID_KEY`: a key of the wrong type or length.
 * - `WEAK_KEY`: a public key that would give an all-zero shared secret (RFC 7748, section 6.1).
 * - `DECRYPTION_FAILED`: wrong key, altered or malformed ciphertext. Deliberately not distinguished.
 * - `INVALID_CHUNK`: media framing that is out of bounds or truncated.
 * - `INVALID_CHALLENGE`: a text to sign that is not an authentication challenge.
 * - `REPLAYED`: a call frame whose counter was seen before or is older than the window.
 * - `COUNTER_EXHAUSTED`: the call frame key has reached its limit; start a new epoch.
 * - `WORK_NOT_FOUND`: no proof of work within the allowed attempts.
 * - `ABORTED`: the caller's abort signal stopped the work.
 * - `UNAVAILABLE`: the script with the cryptography that this runtime lacks could not be loaded.
 */
export type CryptoErrorCode =
  | 'INVALID_ARGUMENT'
  | 'INVALID_ENCODING'
  | 'INVALID_PHRASE'
  | 'INVALID_PATH'
  | 'INVALID_KEY'
  | 'WEAK_KEY'
  | 'DECRYPTION_FAILED'
  | 'INVALID_CHUNK'
  | 'INVALID_CHALLENGE'
  | 'REPLAYED'
  | 'COUNTER_EXHAUSTED'
  | 'WORK_NOT_FOUND'
  | 'ABORTED'
  | 'UNAVAILABLE'

/**
 * The only error that this package throws deliberately. It never has a `cause`, because causes quote their
 * input.
 */
export class CryptoError extends Error {
  override readonly name = 'CryptoError'
  readonly code: CryptoErrorCode

  constructor(code: CryptoErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
