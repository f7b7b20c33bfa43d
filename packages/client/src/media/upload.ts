// Uploads a source: encrypts it piece by piece, sends each piece as one part, and hashes the parts.
import {
  appendMediaSha256,
  decodeBase64,
  encodeBase64,
  FILE_CHUNK_BYTES,
  formatSealedFile,
  newFileKey,
} from '@sotto/crypto'
import { createBlobHash } from '@sotto/crypto/blob-hash'
import { mediaEndpoints as endpoints } from '@sotto/protocol'
import { ClientError, orAborted } from '../client-error.ts'
import { readReply, readText, requestOf } from '../wire/wire.ts'
import { filePieces } from './file-pieces.ts'
import { checkSource, type MediaSource, piecesOf, sizeOf } from './pieces.ts'
import {
  type BegunUpload,
  openedPieces,
  piecesOfSealed,
  type SealedPiece,
  type SealedSource,
  sealedPieces,
  sizeOfSealed,
  startOfSealed,
} from './sealed.ts'
import type { Transfer } from './transfer.ts'

/** 5 MiB in this time are 140 kbit/s. A request does not report the progress of its upload. */
const PART_SILENCE_MS = 300_000
const MAX_REPLY_BYTES = 64 * 1024

/** A completed upload. */
export interface UploadedMedia {
  /**
   * Finds, verifies and opens the blob: a key, `.h` and the hash of the stored bytes; then, if messages to
   * this contact have forward secrecy, `#` and the key of the file. Pass it on as it is: nothing sends the
   * part after `#` to a relay, or to a contact outside of such a message.
   */
  readonly mediaKey: string
  /** The size of the file, before encryption. */
  readonly sizeBytes: number
}

interface Upload {
  readonly upload_id: string
  readonly media_key: string
}

/** A part that the relay has stored. */
interface Part {
  readonly part_number: number
  readonly etag: string
  readonly size: number
}

/**
 * Uploads a source, or what was sealed of it. If that fails or is aborted, the upload is cancelled at the
 * relay, unless it can continue later: a sealed one that the caller did not abort. If the relay has lost
 * accepted parts, the source is uploaded once more, unless it is a stream.
 * @throws ClientError also `INVALID_ARGUMENT` for anything but a source, such as the path of a file
 */
export async function upload(
  transfer: Transfer,
  source: MediaSource,
  sealed?: SealedSource,
): Promise<UploadedMedia> {
  checkSource(source)
  const stop = transfer.endWhenSignedOut()
  try {
    return await uploadOnce(transfer, source, sealed)
  } catch (error) {
    if (!isLost(error) || (source instanceof ReadableStream && !sealed)) throw error
    // Encrypted again unless it is sealed, because the lost parts are no longer in memory.
    const { begun: _, ...anew } = sealed ?? {}
    return await uploadOnce(transfer, source, sealed && { ...anew, blob: sealed.blob })
  } finally {
    stop()
  }
}

async function uploadOnce(
  transfer: Transfer,
  source: MediaSource,
  sealed: SealedSource | undefined,
): Promise<UploadedMedia> {
  let beginning: Promise<Upload> | undefined
  try {
    // Fails before the upload if nothing can be sent to this contact.
    const hasForwardSecrecy = await transfer.withKey(async (_, has) => has)
    const continued = await findUpload(transfer, sealed, hasForwardSecrecy)
    if (continued) beginning = Promise.resolve(continued.upload)
    const begun =
      continued?.upload ??
      (await transfer.persist(() => {
        beginning = transfer.callToItsEnd(endpoints.initUpload, { body: {} })
        return orAborted(beginning, transfer.signal)
      }))
    // Each upload gets a new key, because the source may have changed since the one before.
    const newKey = hasForwardSecrecy ? newFileKey(transfer.platform.random) : undefined
    const fileKey = continued ? continued.fileKey : newKey
    if (!continued) await sealed?.onBegun?.(await begunOf(begun, sealed.blob, fileKey))
    const pieces = fileKey
      ? piecesUnder(fileKey, transfer, source, sealed)
      : sealed
        ? piecesOfSealed(transfer, sealed.blob)
        : sealedPieces(transfer, source)
    const { mediaKey, sizeBytes } = await uploadTo(begun, transfer, pieces, continued?.parts ?? [])
    const withKey = fileKey && formatSealedFile({ mediaKey, fileKey, sizeBytes })
    return { mediaKey: withKey ?? mediaKey, sizeBytes }
  } catch (thrown) {
    const error = isAborted(thrown) && isSignedOut(thrown.cause) ? thrown.cause : thrown
    const isContinuedLater = sealed && !isLost(error) && !isAborted(error)
    if (isContinuedLater) throw error
    // A failure to cancel is ignored: the relay cancels an upload by itself if it is not completed within a
    // day.
    const cancelled = beginning
      ?.then(({ upload_id }) => transfer.callToItsEnd(endpoints.abortUpload, { params: { upload_id } }))
      .catch(() => {})
    // Only a second upload has to wait for it, because it needs the quota again.
    if (isLost(error)) await cancelled
    throw error
  }
}

/** The pieces of a source, or of what was sealed of it, under a key of its own. */
function piecesUnder(
  fileKey: Uint8Array,
  transfer: Transfer,
  source: MediaSource,
  sealed: SealedSource | undefined,
): AsyncIterable<SealedPiece> {
  return sealed
    ? filePieces(transfer, fileKey, openedPieces(transfer, sealed.blob), sizeOfSealed(sealed.blob))
    : filePieces(transfer, fileKey, piecesOf(source, FILE_CHUNK_BYTES), sizeOf(source))
}

async function begunOf(
  { upload_id, media_key }: Upload,
  blob: Blob,
  fileKey: Uint8Array | undefined,
): Promise<BegunUpload> {
  const own = fileKey && { fileKey: encodeBase64(fileKey), ofBlob: await startOfSealed(blob) }
  return { uploadId: upload_id, mediaKey: media_key, ...own }
}

/** An upload that was begun before. */
interface ContinuedUpload {
  readonly upload: Upload
  /** What arrived of it. */
  readonly parts: readonly Part[]
  readonly fileKey: Uint8Array | undefined
}

/** The upload that was begun before with this sealed source; undefined if the relay does not have it. */
async function findUpload(
  transfer: Transfer,
  sealed: SealedSource | undefined,
  hasForwardSecrecy: boolean,
): Promise<ContinuedUpload | undefined> {
  const begun = sealed?.begun
  if (!begun) return undefined
  const { fileKey, ofBlob } = begun
  // Its key could not be sent, or was used for another source.
  if (fileKey !== undefined && !(hasForwardSecrecy && ofBlob === (await startOfSealed(sealed.blob))))
    return undefined
  const upload = { upload_id: begun.uploadId, media_key: begun.mediaKey }
  try {
    const params = { upload_id: begun.uploadId }
    const { parts } = await transfer.call(endpoints.getUpload, { params })
    return { upload, parts, fileKey: fileKey === undefined ? undefined : decodeBase64(fileKey) }
  } catch (error) {
    if (error instanceof ClientError && error.refusal === 'NOT_FOUND') return undefined
    throw error
  }
}

function isAborted(error: unknown): error is ClientError {
  return error instanceof ClientError && error.code === 'ABORTED'
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'SIGNED_OUT'
}

/**
 * Whether the relay has lost acknowledged parts (after a power failure) or the upload (after restoring a
 * backup).
 */
function isLost(error: unknown): boolean {
  const refusal = error instanceof ClientError ? error.refusal : undefined
  return refusal === 'PARTS_MISMATCH' || refusal === 'NOT_FOUND'
}

async function uploadTo(
  upload: Upload,
  transfer: Transfer,
  pieces: AsyncIterable<SealedPiece>,
  stored: readonly Part[],
): Promise<UploadedMedia> {
  const hash = createBlobHash()
  const parts: { etag: string; part_number: number }[] = []
  let [sizeBytes, sealedBytes] = [0, 0]
  for await (const { chunk, sourceBytes } of pieces) {
    hash.update(chunk)
    sealedBytes += chunk.length
    const part_number = parts.length + 1
    const known = stored.find((part) => part.part_number === part_number && part.size === chunk.length)
    parts.push({ part_number, etag: known?.etag ?? (await putPart(upload, transfer, part_number, chunk)) })
    sizeBytes += sourceBytes
  }
  // Checks that the session has not changed: the message must be sent in the session of the chunks.
  await transfer.withKey(async () => undefined)
  const { upload_id, media_key } = upload
  const { size } = await transfer.call(endpoints.completeUpload, {
    params: { upload_id },
    body: { media_key, parts },
  })
  if (size !== sealedBytes)
    throw new ClientError('BAD_REPLY', 'the relay has stored another number of bytes than uploaded')
  return { mediaKey: appendMediaSha256(media_key, hash.digest()), sizeBytes }
}

/**
 * Uploads a part. Retries send the same bytes: encrypted again, the bytes would not match the hash. If no
 * answer came, the retry first asks the relay whether it has the part.
 */
async function putPart(
  { upload_id, media_key }: Upload,
  transfer: Transfer,
  partNumber: number,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const params = { upload_id }
  const { method, path } = requestOf(endpoints.uploadPart, {
    params,
    query: { mediaKey: media_key, partNumber },
  })
  const headers = { 'content-type': 'application/octet-stream' }
  return transfer.fetch(
    { method, path, headers, body, silenceMs: PART_SILENCE_MS },
    async ({ response }) => readReply(endpoints.uploadPart, await readText(response, MAX_REPLY_BYTES)).etag,
    async () => {
      const { parts } = await orAborted(
        transfer.callToItsEnd(endpoints.getUpload, { params }),
        transfer.signal,
      )
      // The relay has a part completely or not at all.
      return parts.find(({ part_number, size }) => part_number === partNumber && size === body.length)?.etag
    },
  )
}
