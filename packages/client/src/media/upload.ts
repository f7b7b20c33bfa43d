// Uploads a source: encrypts it piece by piece, sends each piece as one part, and hashes the parts.
import { appendMediaSha256, CHUNK_OVERHEAD_BYTES } from '@sotto/crypto'
import { createBlobHash } from '@sotto/crypto/blob-hash'
import { mediaEndpoints as endpoints } from '@sotto/protocol'
import { ClientError, orAborted } from '../client-error.ts'
import { readReply, readText, requestOf } from '../wire/wire.ts'
import { checkSource, type MediaSource } from './pieces.ts'
import {
  type BegunUpload,
  piecesOfSealed,
  type SealedPiece,
  type SealedSource,
  sealedPieces,
} from './sealed.ts'
import type { Transfer } from './transfer.ts'

/** 5 MiB in this time are 140 kbit/s. A request does not report the progress of its upload. */
const PART_SILENCE_MS = 300_000
const MAX_REPLY_BYTES = 64 * 1024

/** A completed upload. */
export interface UploadedMedia {
  /** Finds and verifies the blob: a key, `.h` and the hash of the stored bytes. */
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
    await transfer.withKey(async () => undefined)
    const continued = await findUpload(transfer, sealed?.begun)
    if (continued) beginning = Promise.resolve(continued.upload)
    const begun =
      continued?.upload ??
      (await transfer.persist(() => {
        beginning = transfer.callToItsEnd(endpoints.initUpload, { body: {} })
        return orAborted(beginning, transfer.signal)
      }))
    if (!continued) await sealed?.onBegun?.({ uploadId: begun.upload_id, mediaKey: begun.media_key })
    const pieces = sealed ? piecesOfSealed(transfer, sealed.blob) : sealedPieces(transfer, source)
    return await uploadTo(begun, transfer, pieces, continued?.parts ?? [])
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

/** An upload that was begun before, with what arrived of it; undefined if the relay does not have it. */
async function findUpload(
  transfer: Transfer,
  begun: BegunUpload | undefined,
): Promise<{ readonly upload: Upload; readonly parts: readonly Part[] } | undefined> {
  if (!begun) return undefined
  const upload = { upload_id: begun.uploadId, media_key: begun.mediaKey }
  try {
    const params = { upload_id: begun.uploadId }
    return { upload, parts: (await transfer.call(endpoints.getUpload, { params })).parts }
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
  let sizeBytes = 0
  for await (const { chunk, sourceBytes } of pieces) {
    hash.update(chunk)
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
  if (size !== sizeBytes + parts.length * CHUNK_OVERHEAD_BYTES)
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
