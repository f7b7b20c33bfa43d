// Encrypted media: a sequence of self-contained chunks under the session key (crypto_v 1).
import {
  type Bytes,
  checkBytes,
  checkKey,
  concatBytes,
  joinBytes,
  type RandomBytes,
  releaseBytes,
  takeRandomBytes,
} from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

/** The maximum plaintext of one chunk: 5 MiB. */
export const MAX_CHUNK_PLAINTEXT_BYTES = 5 * 1024 * 1024

/** Bytes that encryption adds to a chunk: length (4), nonce (12) and tag (16). */
export const CHUNK_OVERHEAD_BYTES = 32

const LENGTH_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = LENGTH_BYTES + NONCE_BYTES

/** What `encryptChunk` needs: the 32-byte session key, at most 5 MiB of plaintext, and a source of nonces. */
export interface EncryptChunkInput {
  readonly sessionKey: Uint8Array
  readonly plaintext: Uint8Array
  readonly randomBytes: RandomBytes
}

/** What `decryptChunk` needs: the 32-byte session key and exactly one chunk. */
export interface DecryptChunkInput {
  readonly sessionKey: Uint8Array
  readonly chunk: Uint8Array
}

/**
 * One chunk: u32 big-endian length of ciphertext and tag, nonce (12 bytes), ciphertext, tag (AES-256-GCM,
 * NIST SP 800-38D). Rejects with `INVALID_CHUNK` above 5 MiB of plaintext.
 */
export async function encryptChunk(input: EncryptChunkInput): Promise<Bytes> {
  const { sessionKey, plaintext, randomBytes } = input
  checkKey(sessionKey, 'sessionKey')
  checkBytes(plaintext, 'plaintext')
  if (plaintext.length > MAX_CHUNK_PLAINTEXT_BYTES)
    throw new CryptoError('INVALID_CHUNK', 'a chunk holds 5 MiB at most')
  const nonce = takeRandomBytes(randomBytes, NONCE_BYTES)
  const length = new Uint8Array(LENGTH_BYTES)
  new DataView(length.buffer).setUint32(0, plaintext.length + TAG_BYTES)
  const sealed = await withSecret(sessionKey, ({ encryptAesGcm }, key) =>
    encryptAesGcm({ key, nonce, data: plaintext }),
  )
  const chunk = concatBytes(length, nonce, sealed)
  releaseBytes(sealed)
  return chunk
}

/**
 * The plaintext of exactly one chunk. Rejects with `INVALID_CHUNK` if its length field is wrong, and with
 * `DECRYPTION_FAILED` if its content is not authentic.
 */
export async function decryptChunk({ sessionKey, chunk }: DecryptChunkInput): Promise<Bytes> {
  checkKey(sessionKey, 'sessionKey')
  checkBytes(chunk, 'chunk')
  if (readChunkLength(chunk, 0) !== chunk.length) throw cutShort()
  const [nonce, data] = [chunk.subarray(LENGTH_BYTES, HEADER_BYTES), chunk.subarray(HEADER_BYTES)]
  return withSecret(sessionKey, ({ decryptAesGcm }, key) =>
    decryptAesGcm({ key, nonce, data }).catch(() => {
      throw new CryptoError('DECRYPTION_FAILED', 'the chunk could not be decrypted')
    }),
  )
}

/**
 * The chunks of a whole blob, in order, as views into it. Throws `INVALID_CHUNK` if a length is out of
 * bounds or the blob ends within a chunk.
 *
 * Chunks contain neither their order nor their number. A blob with swapped chunks, or one that was cut
 * between two, splits and decrypts like any other. Only the digest in the media key reveals this
 * (`checkMediaDigest`).
 */
export function splitChunks(blob: Uint8Array): Uint8Array[] {
  const reader = new ChunkReader()
  const chunks = reader.push(blob)
  reader.end()
  return chunks
}

/**
 * Finds the chunks in a blob that arrives in pieces of any size. Keeps at most one chunk and one piece in
 * memory.
 */
export class ChunkReader {
  /** The rest of the last join. It starts at a chunk. */
  #rest: Uint8Array = new Uint8Array(0)
  /** The pieces since the last join. */
  #pieces: Uint8Array[] = []
  #pending = 0

  /**
   * Takes the next piece and returns the chunks it completes. Pieces are kept, not copied: do not write to
   * them afterwards. Throws `INVALID_CHUNK`; after that, drop the reader.
   */
  push(piece: Uint8Array): Uint8Array[] {
    checkBytes(piece, 'piece')
    this.#pieces.push(piece)
    this.#pending += piece.length
    const needed =
      this.#rest.length < LENGTH_BYTES ? LENGTH_BYTES : (readChunkLength(this.#rest, 0) ?? LENGTH_BYTES)
    // Joined only once a chunk can be complete. So a chunk in many pieces is copied once or twice, not for
    // every piece.
    if (this.#rest.length + this.#pending < needed) return []

    const bytes =
      this.#rest.length === 0 && this.#pieces.length === 1 ? piece : joinBytes([this.#rest, ...this.#pieces])
    this.#pieces = []
    this.#pending = 0
    const chunks: Uint8Array[] = []
    let at = 0
    for (;;) {
      const length = readChunkLength(bytes, at)
      if (length === undefined || at + length > bytes.length) break
      chunks.push(bytes.subarray(at, at + length))
      at += length
    }
    this.#rest = bytes.subarray(at)
    return chunks
  }

  /** Marks the end of the blob. Throws `INVALID_CHUNK` if it ended within a chunk. */
  end(): void {
    if (this.#rest.length + this.#pending > 0) throw cutShort()
  }
}

/** The total length of the chunk at `at`, or undefined if its length field is incomplete. */
function readChunkLength(bytes: Uint8Array, at: number): number | undefined {
  if (bytes.length - at < LENGTH_BYTES) return undefined
  const length = new DataView(bytes.buffer, bytes.byteOffset + at, LENGTH_BYTES).getUint32(0)
  // Checked before anything is stored or allocated, because an attacker may have chosen the length.
  if (length < TAG_BYTES || length > MAX_CHUNK_PLAINTEXT_BYTES + TAG_BYTES) {
    throw new CryptoError('INVALID_CHUNK', 'a chunk length is out of bounds')
  }
  return HEADER_BYTES + length
}

function cutShort(): CryptoError {
  return new CryptoError('INVALID_CHUNK', 'the data ends before or after its chunk')
}
