// Files and previews under keys of their own (crypto_v 3): padded, in chunks that cannot be moved, dropped
// or added.
import { type Bytes, checkBytes, checkKey, encodeUtf8, type RandomBytes, takeRandomBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { paddedLength } from './padding.ts'
import { withSecret } from './primitives.ts'
import { streamNonce } from './sealed-stream.ts'

/** The plaintext of every chunk but the last: 5 MiB, so that a sealed chunk is one part of an upload. */
export const FILE_CHUNK_BYTES = 5 * 1024 * 1024
/** How much longer a sealed chunk is. */
export const FILE_CHUNK_OVERHEAD_BYTES = 16

const LABEL = 'sotto-file-v1'
const KEY_BYTES = 32
const MAX_CHUNKS = 2 ** 32

/** How a file of some size is stored. */
export interface FilePlan {
  /** At least 1: an empty file has padding. */
  readonly chunks: number
  /** The size with padding, before encryption. */
  readonly paddedBytes: number
  /** The size of the whole blob. */
  readonly sealedBytes: number
}

/** One chunk of a file: the file's key and size, which its message says, and which chunk it is, from 0. */
export interface FileChunk {
  /** From `newFileKey`, for one file only: every file has the same nonces. */
  readonly key: Uint8Array
  readonly sizeBytes: number
  readonly index: number
}

/** A new key for one file or preview: 32 random bytes. If the file's bytes change, it needs another key. */
export function newFileKey(randomBytes: RandomBytes): Bytes {
  return new Uint8Array(takeRandomBytes(randomBytes, KEY_BYTES))
}

/** How a file of `sizeBytes` is stored. Throws `INVALID_ARGUMENT` unless that is a whole number from 0. */
export function planFile(sizeBytes: number): FilePlan {
  const paddedBytes = paddedLength(sizeBytes)
  const chunks = Math.ceil(paddedBytes / FILE_CHUNK_BYTES)
  if (chunks > MAX_CHUNKS) throw new CryptoError('INVALID_ARGUMENT', 'the file is too large')
  return { chunks, paddedBytes, sealedBytes: paddedBytes + chunks * FILE_CHUNK_OVERHEAD_BYTES }
}

/**
 * Seals a chunk: the file's bytes from `index * FILE_CHUNK_BYTES` on, as many as it has up to the next
 * chunk. Zeros follow the end of the file. AES-256-GCM (NIST SP 800-38D) in the STREAM construction, as in
 * `SealedStream`: the nonce is the chunk's number and whether it is the last. The same chunk gives the same
 * bytes, so it can be sealed again for another attempt. Rejects with `INVALID_CHUNK` for another number of
 * bytes, `INVALID_KEY`, `INVALID_ARGUMENT`.
 */
export async function sealFileChunk(input: FileChunk & { readonly plaintext: Uint8Array }): Promise<Bytes> {
  const { key, plaintext } = input
  checkKey(key, 'key')
  checkBytes(plaintext, 'plaintext')
  const { paddedBytes, fileBytes, nonce } = placeOf(input)
  if (plaintext.length !== fileBytes) throw wrongLength()
  const data = new Uint8Array(paddedBytes)
  data.set(plaintext)
  return withSecret(key, ({ encryptAesGcm }, copy) =>
    encryptAesGcm({ key: copy, nonce, data, additionalData: encodeUtf8(LABEL) }),
  )
}

/**
 * The file's bytes of a sealed chunk, without padding. Rejects with `INVALID_CHUNK` for a wrong length, and
 * with `DECRYPTION_FAILED` if it is not this chunk of this file.
 */
export async function openFileChunk(input: FileChunk & { readonly sealed: Uint8Array }): Promise<Bytes> {
  const { key, sealed } = input
  checkKey(key, 'key')
  checkBytes(sealed, 'sealed')
  const { paddedBytes, fileBytes, nonce } = placeOf(input)
  if (sealed.length !== paddedBytes + FILE_CHUNK_OVERHEAD_BYTES) throw wrongLength()
  const padded = await withSecret(key, ({ decryptAesGcm }, copy) =>
    decryptAesGcm({ key: copy, nonce, data: sealed, additionalData: encodeUtf8(LABEL) }).catch(() => {
      throw new CryptoError('DECRYPTION_FAILED', 'a chunk of the file could not be opened')
    }),
  )
  return fileBytes === padded.length ? padded : padded.slice(0, fileBytes)
}

/** The bytes of a chunk with padding, how many of them are the file's, and its nonce. */
function placeOf({ sizeBytes, index }: FileChunk): {
  readonly paddedBytes: number
  readonly fileBytes: number
  readonly nonce: Bytes
} {
  const plan = planFile(sizeBytes)
  if (!Number.isSafeInteger(index) || index < 0 || index >= plan.chunks)
    throw new CryptoError('INVALID_ARGUMENT', 'the file has no such chunk')
  const start = index * FILE_CHUNK_BYTES
  const from = (end: number): number => Math.min(Math.max(end - start, 0), FILE_CHUNK_BYTES)
  const nonce = streamNonce(index, { isLast: index === plan.chunks - 1 })
  return { paddedBytes: from(plan.paddedBytes), fileBytes: from(sizeBytes), nonce }
}

function wrongLength(): CryptoError {
  return new CryptoError('INVALID_CHUNK', 'the length of a chunk does not fit the size of its file')
}
