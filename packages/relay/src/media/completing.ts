// The end of an upload: its parts become one blob, or it is given up. The database first says that parts are being put together,
// so that nothing is written meanwhile and a crash in between is made good by asking again.
import { type MediaKey, ProtocolError } from '@sotto/protocol'
import { randomText } from '../operations/random.ts'
import type { BlobStore, Completion, StoredBlob, StoredPart } from './blob-store.ts'
import {
  type BlobParts,
  type BlobRow,
  doomBlob,
  doomObject,
  findStoredBlob,
  isStill,
  listParts,
  lockUpload,
  markCompleting,
  markStored,
  newObject,
  type UploadOf,
} from './blobs.ts'
import type { WriteQueue } from './write-queue.ts'

/** What uploads are made with. */
export interface UploadParts extends BlobParts {
  readonly store: BlobStore
  readonly queue: WriteQueue
}

/** What an upload is known by in the queue: its owner first, so that nobody else's id ends a write. */
export function queueNameOf({ account, uploadId }: UploadOf): string {
  return `${account} ${uploadId}`
}

/** A part as whoever completes an upload names it. */
export interface NamedPart {
  readonly part_number: number
  readonly etag: string
}

/**
 * Makes the parts of an upload one blob. Of one that is complete, answers the same again.
 * @returns its size in bytes
 * @throws ProtocolError `NOT_FOUND`, `PARTS_MISMATCH`, `INVALID_FIELD`
 */
export async function completeUpload(
  upload: UploadOf & { mediaKey: MediaKey },
  named: readonly NamedPart[],
  parts: UploadParts,
): Promise<number> {
  const { storage, queue } = parts
  const { blob, there } = await storage.transaction(async (sql) => {
    const locked = await lockUpload(sql, upload)
    if (locked.media_key !== upload.mediaKey) throw new ProtocolError('NOT_FOUND')
    if (locked.state === 'stored') return { blob: locked, there: [] }
    const present = await listParts(sql, locked.id)
    if (!areTheSame(present, named)) throw new ProtocolError('PARTS_MISMATCH')
    await markCompleting(sql, locked, parts)
    return { blob: locked, there: present }
  })
  if (blob.state === 'stored') return blob.bytes
  // A part that came to the store later would change the blob on some: Swift keeps parts as they are and reads them in turn.
  await queue.end(queueNameOf(upload))
  return await putTogether(blob, there, parts)
}

/**
 * Has the store make one object of a blob's parts, and makes it readable. The blob is `completing`.
 * @returns its size in bytes
 * @throws ProtocolError `PARTS_MISMATCH`, `INVALID_FIELD`
 */
export async function putTogether(
  blob: BlobRow,
  there: readonly StoredPart[],
  parts: UploadParts,
): Promise<number> {
  const { storage, store, randomBytes } = parts
  const completion = await store.complete(blob, there, randomText(randomBytes, 12))
  if (completion !== 'done') throw await reopened(blob, completion, parts)
  const bytes = there.reduce((sum, part) => sum + part.bytes, 0)
  const stored = { id: blob.id, from: 'completing', object: blob.object, bytes } as const
  const isStored = await storage.transaction((sql) => markStored(sql, stored, parts))
  // Else somebody was faster, or it is gone: its owner is, or its time was up.
  if (!isStored && !(await findStoredBlob(storage.sql, blob.media_key))) throw new ProtocolError('NOT_FOUND')
  return bytes
}

/** Gives an upload up. @throws ProtocolError `NOT_FOUND` where none is under way */
export async function abortUpload(upload: UploadOf, { storage, store, queue }: UploadParts): Promise<void> {
  const object = await storage.transaction(async (sql) => {
    const blob = await lockUpload(sql, upload)
    if (blob.state !== 'open') throw new ProtocolError('NOT_FOUND')
    await doomBlob(sql, blob)
    return blob.object
  })
  await queue.end(queueNameOf(upload))
  await removeDoomed(object, { storage, store })
}

/** Removes an object that nothing names any more. Where that fails, the sweep tries again. */
export async function removeDoomed(
  object: string,
  { storage, store }: Pick<UploadParts, 'storage' | 'store'>,
): Promise<void> {
  await store.remove(object)
  await storage.passing((sql) => sql`DELETE FROM media_doomed WHERE object = ${object}`)
}

/**
 * Makes what clients wrote by a link that leads to the store itself readable, by copying it to where the link does not
 * lead: whoever has the link cannot change it any more, and its size is known.
 * @returns the blob; undefined where nothing was written yet, or nothing that may be kept
 */
export async function adopt(blob: BlobRow, parts: UploadParts): Promise<StoredBlob | undefined> {
  const { storage, store } = parts
  if (!store.direct) return undefined
  const object = newObject(parts.randomBytes)
  const mostBytes = blob.exact_bytes ?? parts.limits.mediaBytes
  const size = await store.direct.adopt(blob.object, object, mostBytes)
  if (size === undefined) return undefined
  const mayBeKept = size !== 'too large' && (blob.exact_bytes === null || size === blob.exact_bytes)
  const bytes = size === 'too large' ? 0 : size
  const isOurs = await storage.transaction(async (sql) => {
    if (!mayBeKept) {
      await doomBlob(sql, blob)
      await doomObject(sql, object)
      return false
    }
    const isStored = await markStored(sql, { id: blob.id, from: 'awaited', object, bytes }, parts)
    // Of two who adopt at once, the first one's copy is the blob.
    await doomObject(sql, isStored ? blob.object : object)
    return isStored
  })
  return isOurs ? { object, bytes } : undefined
}

// Back to where parts can be written. Where what the store has is not what the database says, nothing is certain but the
// upload itself: its parts are to be uploaded again.
async function reopened(
  blob: BlobRow,
  completion: Exclude<Completion, 'done'>,
  { storage }: Pick<UploadParts, 'storage'>,
): Promise<ProtocolError> {
  await storage.transaction(async (sql) => {
    if (!(await isStill(sql, blob, 'completing'))) return
    await sql`UPDATE media_blobs SET state = 'open' WHERE id = ${blob.id}`
    if (completion === 'too small') return
    await sql`DELETE FROM media_parts WHERE blob = ${blob.id}`
    await sql`DELETE FROM media_writes WHERE blob = ${blob.id}`
    await sql`UPDATE media_blobs SET bytes = 0, parts = 0 WHERE id = ${blob.id}`
  })
  if (completion === 'changed') return new ProtocolError('PARTS_MISMATCH')
  return new ProtocolError('INVALID_FIELD', {
    field: 'parts',
    rule: 'must each be at least 5 MiB, but for the last: this relay’s store takes no smaller ones',
  })
}

function areTheSame(there: readonly StoredPart[], named: readonly NamedPart[]): boolean {
  return (
    there.length === named.length &&
    there.every(({ part_number, etag }, i) => {
      return part_number === i + 1 && named[i]?.part_number === i + 1 && named[i].etag === etag
    })
  )
}
