// Encrypts a source before it is uploaded. What is kept of it on the device is ciphertext, as the relay gets
// it, and an upload of it can continue after the program was started again.
import {
  CHUNK_OVERHEAD_BYTES,
  CryptoError,
  decryptChunk,
  encodeBase64,
  encryptChunk,
  MAX_CHUNK_PLAINTEXT_BYTES,
  releaseBytes,
} from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import { checkSource, type MediaSource, piecesOf, sizeOf } from './pieces.ts'
import { intoBlob, type Spool } from './spool.ts'
import type { Transfer } from './transfer.ts'

/** Every chunk of a sealed source but the last one has this size. */
const CHUNK_BYTES = MAX_CHUNK_PLAINTEXT_BYTES + CHUNK_OVERHEAD_BYTES
/** The length and the nonce of a chunk. */
const START_BYTES = 16

/** Names an upload at the relay, which keeps what arrived of it for a day. */
export interface BegunUpload {
  readonly uploadId: string
  readonly mediaKey: string
  /**
   * The key of the file, if it has one of its own: with forward secrecy. Base64; `ofBlob` is the start of the
   * sealed source, which is random. The key is used for no other source, because every file has the same
   * nonces.
   */
  readonly fileKey?: string
  readonly ofBlob?: string
}

/** A source that was sealed, and the upload of it. */
export interface SealedSource {
  /** What `seal` made of the source. It is sent as it is. */
  readonly blob: Blob
  /** The upload that was begun with it: it continues, if the relay still has it. */
  readonly begun?: BegunUpload
  /** Called when an upload begins. Store it with the blob; the upload goes on once this resolves. */
  readonly onBegun?: (begun: BegunUpload) => void | Promise<void>
}

/** Encrypts a source into a spool. If that fails, the spool is discarded. */
export async function seal<T>(transfer: Transfer, source: MediaSource, spool: Spool<T>): Promise<T> {
  checkSource(source)
  try {
    for await (const { chunk } of sealedPieces(transfer, source)) await spool.write(chunk)
    return await spool.finish()
  } catch (error) {
    await spool.discard()
    throw error
  }
}

/** The source that was sealed. @throws ClientError `KEY_CHANGED` if the session has another key by now */
export async function unseal(transfer: Transfer, sealed: Blob): Promise<Blob> {
  const spool = intoBlob()
  for await (const plaintext of openedPieces(transfer, sealed)) await spool.write(plaintext)
  return spool.finish()
}

/**
 * The pieces of the source that was sealed, each valid until the next one is read. @throws ClientError as
 * `unseal` does
 */
export async function* openedPieces(
  transfer: Transfer,
  sealed: Blob,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of piecesOf(sealed, CHUNK_BYTES)) {
    const plaintext = await opened(transfer, chunk)
    yield plaintext
    releaseBytes(plaintext)
  }
}

/** The size of the source that was sealed. */
export function sizeOfSealed({ size }: Blob): number {
  return size - Math.ceil(size / CHUNK_BYTES) * CHUNK_OVERHEAD_BYTES
}

/** What tells a sealed source from every other: its start, with a random nonce, and its size. */
export async function startOfSealed(sealed: Blob): Promise<string> {
  const start = new Uint8Array(await sealed.slice(0, START_BYTES).arrayBuffer())
  return `${encodeBase64(start)} ${sealed.size}`
}

/** An encrypted chunk, which is valid until the next one is read, and how much of the source is in it. */
export interface SealedPiece {
  readonly chunk: Uint8Array<ArrayBuffer>
  readonly sourceBytes: number
}

/** Encrypts a source chunk by chunk. */
export async function* sealedPieces(transfer: Transfer, source: MediaSource): AsyncGenerator<SealedPiece> {
  const totalBytes = sizeOf(source)
  let doneBytes = 0
  for await (const plaintext of piecesOf(source, MAX_CHUNK_PLAINTEXT_BYTES)) {
    const randomBytes = transfer.platform.random
    const chunk = await transfer.withKey((sessionKey) => encryptChunk({ sessionKey, plaintext, randomBytes }))
    yield { chunk, sourceBytes: plaintext.length }
    releaseBytes(chunk)
    doneBytes += plaintext.length
    transfer.progress(doneBytes, totalBytes)
  }
}

/** The chunks of a sealed source. @throws ClientError `KEY_CHANGED` if the session has another key by now */
export async function* piecesOfSealed(transfer: Transfer, sealed: Blob): AsyncGenerator<SealedPiece> {
  const totalBytes = sizeOfSealed(sealed)
  let doneBytes = 0
  for await (const piece of piecesOf(sealed, CHUNK_BYTES)) {
    // Nobody could open what was sealed under a key that is gone.
    if (doneBytes === 0) releaseBytes(await opened(transfer, piece))
    const sourceBytes = piece.length - CHUNK_OVERHEAD_BYTES
    yield { chunk: new Uint8Array(piece), sourceBytes }
    doneBytes += sourceBytes
    transfer.progress(doneBytes, totalBytes)
  }
}

async function opened(transfer: Transfer, chunk: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await transfer.withKey((sessionKey) => decryptChunk({ sessionKey, chunk }))
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause
    throw new ClientError('KEY_CHANGED', 'this was sealed under another key than that of the session', {
      cause,
    })
  }
}
