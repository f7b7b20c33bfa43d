// An upload: the source is encrypted piece by piece, each one part at the relay, hashed as it goes.
import {
  appendMediaSha256,
  CHUNK_OVERHEAD_BYTES,
  encryptChunk,
  MAX_CHUNK_PLAINTEXT_BYTES,
} from '@sotto/crypto'
import { createBlobHash } from '@sotto/crypto/blob-hash'
import { mediaEndpoints as endpoints } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import { readText } from '../http.ts'
import { readReply, requestOf } from '../relay-request.ts'
import { type MediaSource, piecesOf, release, sizeOf } from './pieces.ts'
import type { Transfer } from './transfer.ts'

/** 5 MiB in this time is 140 kbit/s. The request says nothing of how far it is. */
const PART_SILENCE_MS = 300_000
const MAX_REPLY_BYTES = 64 * 1024

/** What was uploaded. */
export interface UploadedMedia {
  /** Leads to the blob, and proves it: a key, `.h` and the hash of what is stored. */
  readonly mediaKey: string
  /** Of the file itself. */
  readonly sizeBytes: number
}

interface Upload {
  readonly upload_id: string
  readonly media_key: string
}

/**
 * Uploads a source. Where that fails, or is ended, what was uploaded is given up. Where the relay has lost what it had taken,
 * it is uploaded once more, if it can be read once more.
 */
export async function upload(transfer: Transfer, source: MediaSource): Promise<UploadedMedia> {
  try {
    return await uploadOnce(transfer, source)
  } catch (error) {
    if (!isLost(error) || source instanceof ReadableStream) throw error
    // Encrypted anew: what was lost is known here no more.
    return await uploadOnce(transfer, source)
  }
}

async function uploadOnce(transfer: Transfer, source: MediaSource): Promise<UploadedMedia> {
  let beginning: Promise<Upload> | undefined
  try {
    // Whom nothing can be sent to is not uploaded for.
    await transfer.withKey(async () => undefined)
    const begun = await transfer.persist(() => {
      beginning = transfer.callToItsEnd(endpoints.initUpload, { body: {} })
      return transfer.orAborted(beginning)
    })
    return await uploadTo(begun, transfer, source)
  } catch (error) {
    // Nobody is told of a failure: the relay gives up by itself what nobody completes within a day.
    const givenUp = beginning
      ?.then(({ upload_id }) => transfer.callToItsEnd(endpoints.abortUpload, { params: { upload_id } }))
      .catch(() => {})
    // Waited for only by who needs its room again.
    if (isLost(error)) await givenUp
    throw error
  }
}

/** Whether the relay no longer has parts it had answered, as after a power cut, or the upload, as after an older backup was put back. */
function isLost(error: unknown): boolean {
  const refusal = error instanceof ClientError ? error.refusal : undefined
  return refusal === 'PARTS_MISMATCH' || refusal === 'NOT_FOUND'
}

async function uploadTo(upload: Upload, transfer: Transfer, source: MediaSource): Promise<UploadedMedia> {
  const hash = createBlobHash()
  const parts: { etag: string; part_number: number }[] = []
  const totalBytes = sizeOf(source)
  let sizeBytes = 0
  for await (const plaintext of piecesOf(source, MAX_CHUNK_PLAINTEXT_BYTES)) {
    const randomBytes = transfer.platform.random
    const chunk = await transfer.withKey((sessionKey) => encryptChunk({ sessionKey, plaintext, randomBytes }))
    hash.update(chunk)
    const part_number = parts.length + 1
    parts.push({ part_number, etag: await putPart(upload, transfer, part_number, chunk) })
    sizeBytes += plaintext.length
    release(chunk)
    transfer.progress(sizeBytes, totalBytes)
  }
  // The session the message will be sent in is the one of the chunks.
  await transfer.withKey(async () => undefined)
  const { upload_id, media_key } = upload
  const { size } = await transfer.call(endpoints.completeUpload, {
    params: { upload_id },
    body: { media_key, parts },
  })
  if (size !== sizeBytes + parts.length * CHUNK_OVERHEAD_BYTES)
    throw new ClientError('BAD_REPLY', 'the relay has stored another number of bytes than were uploaded')
  return { mediaKey: appendMediaSha256(media_key, hash.digest()), sizeBytes }
}

/**
 * Uploads a part, the same bytes however often: encrypted anew they would be others, and the hash is of these. Where no
 * answer came, the relay is asked whether it has the part.
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
      const { parts } = await transfer.orAborted(transfer.callToItsEnd(endpoints.getUpload, { params }))
      // There whole or not at all.
      return parts.find(({ part_number, size }) => part_number === partNumber && size === body.length)?.etag
    },
  )
}
