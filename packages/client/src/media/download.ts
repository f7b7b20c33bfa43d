// Downloads a blob: fetches it in pieces with at least one chunk each, decrypts them into a spool, and
// releases the file once all of it is proven.
import {
  appendMediaSha256,
  CHUNK_OVERHEAD_BYTES,
  ChunkReader,
  CryptoError,
  decryptChunk,
  FILE_CHUNK_BYTES,
  FILE_CHUNK_OVERHEAD_BYTES,
  MAX_CHUNK_PLAINTEXT_BYTES,
  openFileChunk,
  parseSealedFile,
  planFile,
  releaseBytes,
  type SealedFile,
} from '@sotto/crypto'
import { createBlobHash } from '@sotto/crypto/blob-hash'
import { mediaEndpoints as endpoints } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import { requestOf } from '../wire/wire.ts'
import type { Spool } from './spool.ts'
import type { Transfer } from './transfer.ts'

/**
 * The maximum size of a chunk: a piece of this size that begins with a chunk contains that chunk completely.
 */
const PIECE_BYTES = MAX_CHUNK_PLAINTEXT_BYTES + CHUNK_OVERHEAD_BYTES
/** If the relay sends nothing for this long, the request is repeated. */
const SILENCE_MS = 30_000

/** A completed download. */
export interface DownloadedMedia<T> {
  /** The file: a Blob without a type, or the result of the spool. */
  readonly data: T
  readonly sizeBytes: number
  /**
   * Whether the file is proven to be complete and in order. It is not if the media key has no digest, as
   * published clients write it. Then every chunk was encrypted for this conversation, but some may be missing
   * or in another place.
   */
  readonly isProven: boolean
}

/** What to download, and where to. */
export interface DownloadRequest<T> {
  readonly mediaKey: string
  readonly spool: Spool<T>
  /** The maximum size of the blob. */
  readonly maxBytes: number
}

/** Downloads a blob. If that fails, deletes everything downloaded. */
export async function download<T>(
  transfer: Transfer,
  request: DownloadRequest<T>,
): Promise<DownloadedMedia<T>> {
  const { spool } = request
  try {
    const file = parseSealedFile(request.mediaKey)
    // The blob has to have this size, so nothing need be asked for.
    if (file) checkSize(planFile(file.sizeBytes).sealedBytes, request.maxBytes)
    const mediaKey = file?.mediaKey ?? request.mediaKey
    const opening = file ? openingOf(file) : ofConversation
    const { sizeBytes, digest } = await fetchAll(transfer, { ...request, mediaKey, opening })
    const [bareKey = '', ending] = mediaKey.split(/(?=\.h)/)
    if (ending !== undefined && appendMediaSha256(bareKey, digest) !== mediaKey) throw altered()
    // A key of its own proves the place of each chunk, and the end of the file.
    const isProven = file !== undefined || ending !== undefined
    return { data: await spool.finish(), sizeBytes, isProven }
  } catch (error) {
    await spool.discard()
    throw error
  }
}

/** How a blob is opened. */
interface Opening {
  /** The most bytes that a request asks for. */
  readonly pieceBytes: number
  /** The size that the blob must have, if it is known. */
  readonly blobBytes?: number
  /** The chunks with which a piece begins. */
  chunksIn(piece: Uint8Array): readonly Uint8Array[]
  /** @param index the chunk's number, from 0 */
  open(sessionKey: Uint8Array, chunk: Uint8Array, index: number): Promise<Uint8Array<ArrayBuffer>>
  /** How many bytes the file has, of a blob of `total` bytes. */
  fileBytes(total: number): number
}

/** Opens what was encrypted with the key of the conversation. */
const ofConversation: Opening = {
  pieceBytes: PIECE_BYTES,
  chunksIn: (piece) => new ChunkReader().push(piece),
  open: (sessionKey, chunk) => decryptChunk({ sessionKey, chunk }),
  // An estimate: it assumes chunks of 5 MiB, which a sender need not use.
  fileBytes: (total) => total - CHUNK_OVERHEAD_BYTES * Math.ceil(total / PIECE_BYTES),
}

/** Opens a file with a key of its own. */
function openingOf({ fileKey: key, sizeBytes }: SealedFile): Opening {
  const { sealedBytes } = planFile(sizeBytes)
  return {
    pieceBytes: Math.min(FILE_CHUNK_BYTES + FILE_CHUNK_OVERHEAD_BYTES, sealedBytes),
    blobBytes: sealedBytes,
    chunksIn: (piece) => [piece],
    open: (_, sealed, index) => openFileChunk({ key, sizeBytes, index, sealed }),
    fileBytes: () => sizeBytes,
  }
}

async function fetchAll<T>(
  transfer: Transfer,
  { mediaKey, spool, maxBytes, opening }: DownloadRequest<T> & { readonly opening: Opening },
): Promise<{ sizeBytes: number; digest: Uint8Array }> {
  const hash = createBlobHash()
  const buffer = new Uint8Array(opening.pieceBytes)
  let [sizeBytes, at, index] = [0, 0, 0]
  let total: number | undefined
  while (total === undefined || at < total) {
    const piece = await fetchPiece(transfer, mediaKey, { at, buffer })
    total ??= piece.total
    if (piece.total !== total || total !== (opening.blobBytes ?? total)) throw altered()
    checkSize(total, maxBytes)
    const chunks = await orAltered(async () => opening.chunksIn(piece.bytes))
    // The piece begins with a chunk and is large enough for one.
    if (chunks.length === 0) throw altered()
    // One key for all chunks of a piece: a hostile sender may have cut it into a hundred thousand chunks.
    await transfer.withKey(async (sessionKey) => {
      for (const chunk of chunks) {
        const plaintext = await orAltered(() => opening.open(sessionKey, chunk, index))
        index += 1
        hash.update(chunk)
        await spool.write(plaintext)
        at += chunk.length
        sizeBytes += plaintext.length
        releaseBytes(plaintext)
      }
    })
    transfer.progress(sizeBytes, opening.fileBytes(total))
  }
  return { sizeBytes, digest: hash.digest() }
}

function checkSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes)
    throw new ClientError('MEDIA_TOO_LARGE', `this has ${bytes} bytes, and at most ${maxBytes} are allowed`)
}

interface Piece {
  readonly bytes: Uint8Array
  /** The size of the whole blob. */
  readonly total: number
}

/**
 * Fetches the bytes from `at`, as many as the buffer has. They are valid until the next piece overwrites
 * them.
 */
function fetchPiece(
  transfer: Transfer,
  mediaKey: string,
  { at, buffer }: { readonly at: number; readonly buffer: Uint8Array },
): Promise<Piece> {
  const { method, path } = requestOf(endpoints.downloadMedia, { query: { key: mediaKey } })
  const headers = { range: `bytes=${at}-${at + buffer.length - 1}` }
  return transfer.fetch({ method, path, headers, silenceMs: SILENCE_MS }, async ({ response, moved }) => {
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
    const [first, last, total] = (range ?? []).slice(1).map(Number)
    if (
      first !== at ||
      last === undefined ||
      total === undefined ||
      last !== Math.min(at + buffer.length, total) - 1
    )
      throw new ClientError('BAD_REPLY', 'the relay answered with another part of the blob')
    const bytes = buffer.subarray(0, last - first + 1)
    const reader = response.body?.getReader()
    for (let filled = 0; filled < bytes.length; ) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done || value === undefined) throw new ClientError('NETWORK', 'the download was cut')
      moved()
      bytes.set(value.subarray(0, bytes.length - filled), filled)
      filled += value.length
    }
    return { bytes, total }
  })
}

async function orAltered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CryptoError && error.code !== 'UNAVAILABLE' ? altered(error) : error
  }
}

function altered(cause?: CryptoError): ClientError {
  return new ClientError('MEDIA_ALTERED', 'this is not what the sender stored for this conversation', {
    cause,
  })
}
