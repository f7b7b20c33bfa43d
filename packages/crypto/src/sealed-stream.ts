// A long secret in chunks: AES-256-GCM in the STREAM construction, so that it is sealed and opened in bounded
// memory.
import { type Bytes, checkBytes, checkKey } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

/** The length of the plaintext of each chunk but the last, which has 1 to as many bytes. */
export const STREAM_CHUNK_BYTES = 65_536
/** How much longer a sealed chunk is. */
export const STREAM_CHUNK_OVERHEAD_BYTES = 16

const NONCE_BYTES = 12
const LAST = 1
const MAX_CHUNKS = 2 ** 32

/** A key for one stream only, and a context that all chunks are bound to. The context is not secret. */
export interface SealedStreamInput {
  /** 32 bytes. Never used for another stream, because every stream has the same nonces. */
  readonly key: Uint8Array
  readonly context: Uint8Array
}

/**
 * Seals or opens the chunks of a stream, in their order: AES-256-GCM (NIST SP 800-38D) with the context as
 * additional data. The nonce is 7 zero bytes, the number of the chunk from 0 (4 bytes, big-endian), and 1 for
 * the last chunk, otherwise 0. A chunk that was altered, moved, dropped or added does not open, nor does a
 * stream that was cut short: this is the STREAM construction of "Online Authenticated-Encryption and its
 * Nonce-Reuse Misuse-Resistance" (Hoang, Reyhanitabar, Rogaway, Vizár; CRYPTO 2015).
 */
export class SealedStream {
  readonly #input: SealedStreamInput
  #count = 0
  #hasEnded = false

  constructor(input: SealedStreamInput) {
    checkKey(input.key, 'key')
    checkBytes(input.context, 'context')
    this.#input = input
  }

  /** Seals the next chunk. Throws `INVALID_CHUNK` for a wrong length, or after the last chunk. */
  seal(plaintext: Uint8Array, { isLast }: { isLast: boolean }): Promise<Bytes> {
    const nonce = this.#nextNonce(plaintext.length, isLast)
    const { key, context } = this.#input
    return withSecret(key, ({ encryptAesGcm }, copy) =>
      encryptAesGcm({ key: copy, nonce, data: plaintext, additionalData: context }),
    )
  }

  /**
   * Opens the next chunk. Throws `INVALID_CHUNK` for a wrong length, or after the last chunk, and
   * `DECRYPTION_FAILED` if the chunk is not the next one of this stream.
   */
  open(sealed: Uint8Array, { isLast }: { isLast: boolean }): Promise<Bytes> {
    const nonce = this.#nextNonce(sealed.length - STREAM_CHUNK_OVERHEAD_BYTES, isLast)
    const { key, context } = this.#input
    return withSecret(key, async ({ decryptAesGcm }, copy) => {
      try {
        return await decryptAesGcm({ key: copy, nonce, data: sealed, additionalData: context })
      } catch {
        throw new CryptoError('DECRYPTION_FAILED', 'a chunk of the sealed stream could not be opened')
      }
    })
  }

  #nextNonce(plaintextBytes: number, isLast: boolean): Bytes {
    const isLength = isLast
      ? plaintextBytes >= 1 && plaintextBytes <= STREAM_CHUNK_BYTES
      : plaintextBytes === STREAM_CHUNK_BYTES
    if (!isLength || this.#hasEnded || this.#count >= MAX_CHUNKS)
      throw new CryptoError('INVALID_CHUNK', 'this is no next chunk of a sealed stream')
    const nonce = streamNonce(this.#count, { isLast })
    this.#count += 1
    this.#hasEnded = isLast
    return nonce
  }
}

/**
 * The nonce of a chunk in the STREAM construction: 7 zero bytes, its number (4 bytes), and 1 if it is the
 * last.
 */
export function streamNonce(index: number, { isLast }: { isLast: boolean }): Bytes {
  const nonce = new Uint8Array(NONCE_BYTES)
  const view = new DataView(nonce.buffer)
  view.setUint32(7, index)
  view.setUint8(11, isLast ? LAST : 0)
  return nonce
}
