// Completes or aborts an upload. Before the parts are joined, the database records the state `completing`. So
// nothing is written meanwhile, and after a crash a repeated request completes the upload.
import { type MediaKey, ProtocolError } from '@sotto/protocol'
import type { DiskSpace } from '../operations/disk-space.ts'
import type { BlobStore, Completion, DirectAccess, StoredBlob, StoredPart } from './blob-store.ts'
import {
  type BlobNumber,
  type BlobParts,
  type BlobRow,
  doomBlob,
  doomCopyOf,
  doomObjectOf,
  findStoredBlob,
  listParts,
  lockInState,
  lockUpload,
  markCompleting,
  markStored,
  mayHoldOthers,
  newObject,
  spareObject,
  type UploadOf,
} from './blobs.ts'
import type { WriteQueue } from './write-queue.ts'

const ADOPT_ATTEMPTS = 3
/** Longer than a copy can take in the store. */
const DEAD_COPY_MS = 3_600_000

/** The parts that uploads need. */
export interface UploadParts extends BlobParts {
  readonly store: BlobStore
  readonly queue: WriteQueue
  readonly space: Pick<DiskSpace, 'holdMedia'>
}

/** The name of an upload in the queue. It begins with the owner, so that nobody else can end its writes. */
export function queueNameOf({ account, uploadId }: UploadOf): string {
  return `${account} ${uploadId}`
}

/** A part as the request that completes an upload names it. */
export interface NamedPart {
  readonly part_number: number
  readonly etag: string
}

/**
 * Joins the parts of an upload into one blob. If it is complete already, returns the same result.
 * @returns its size in bytes
 * @throws ProtocolError `NOT_FOUND`, `PARTS_MISMATCH`, `INVALID_FIELD`
 */
export async function completeUpload(
  upload: UploadOf & { mediaKey: MediaKey },
  named: readonly NamedPart[],
  parts: UploadParts,
): Promise<number> {
  const { storage, queue } = parts
  const { blob, stored, mayHoldMore } = await storage.transaction(async (sql) => {
    const locked = await lockUpload(sql, upload)
    if (locked.media_key !== upload.mediaKey) throw new ProtocolError('NOT_FOUND')
    if (locked.state === 'stored') return { blob: locked, stored: [], mayHoldMore: false }
    const present = await listParts(sql, locked.id)
    if (!areTheSame(present, named)) throw new ProtocolError('PARTS_MISMATCH')
    await markCompleting(sql, locked, parts)
    return { blob: locked, stored: present, mayHoldMore: await mayHoldOthers(sql, locked) }
  })
  if (blob.state === 'stored') return blob.bytes
  // Wait for running writes. On some stores a part that arrives later would change the blob: Swift keeps the
  // parts as separate objects and reads them one after another.
  await queue.end(queueNameOf(upload))
  return await joinParts(blob, { stored, mayHoldMore }, parts)
}

/**
 * Makes the store join a blob's parts, and makes the blob readable. The blob's state is `completing`.
 * @param joined.mayHoldMore whether the store may hold other parts, too
 * @returns its size in bytes
 * @throws ProtocolError `NOT_FOUND`, `PARTS_MISMATCH`, `INVALID_FIELD`
 */
export async function joinParts(
  blob: BlobRow,
  joined: { readonly stored: readonly StoredPart[]; readonly mayHoldMore: boolean },
  parts: UploadParts,
): Promise<number> {
  const { storage, store } = parts
  const completion = await store.complete(blob, joined.stored, joined.mayHoldMore)
  if (completion !== 'done') throw await reopen(blob, completion, parts)
  const bytes = joined.stored.reduce((sum, part) => sum + part.bytes, 0)
  const stored = { was: blob, from: 'completing', object: blob.object, bytes } as const
  const isStored = await storage.transaction((sql) => markStored(sql, stored, parts))
  // If this request did not store it, another one did, or the blob was deleted: with its account, or because
  // it expired.
  if (!isStored && !(await findStoredBlob(storage.sql, blob.media_key))) throw new ProtocolError('NOT_FOUND')
  return bytes
}

/** Aborts an upload. @throws ProtocolError `NOT_FOUND` if there is no such open upload */
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

/** Removes an object that was marked for removal. If this fails, the sweep tries again. */
export async function removeDoomed(
  object: string,
  { storage, store }: Pick<UploadParts, 'storage' | 'store'>,
): Promise<void> {
  await store.remove(object)
  await storage.unsyncedTransaction((sql) => spareObject(sql, object))
}

/**
 * Makes a blob that a client wrote through a link to the store readable. Copies it to a name that the link
 * does not lead to, so that the bearer of the link cannot change it any more and its size is certain.
 * @returns the blob; undefined if nothing was written yet, or its size is not allowed
 */
export async function adopt(blob: BlobRow, parts: UploadParts): Promise<StoredBlob | undefined> {
  const { direct } = parts.store
  // A link that leads to the relay has an upload in the store.
  if (!direct || blob.handle !== '') return undefined
  return await parts.queue.adoptions.run(blob.id, () => adoptOnce(blob, direct, parts))
}

async function adoptOnce(
  blob: BlobRow,
  direct: DirectAccess,
  parts: UploadParts,
): Promise<StoredBlob | undefined> {
  for (let attempt = 1; attempt <= ADOPT_ATTEMPTS; attempt++) {
    const written = await direct.find(blob.object)
    if (!written) return undefined
    const { exact_bytes: exact } = blob
    const isSizeAllowed = exact === null ? written.bytes <= parts.limits.mediaBytes : written.bytes === exact
    if (!isSizeAllowed) {
      await parts.storage.transaction(async (sql) => {
        if (await lockInState(sql, blob, 'awaited')) await doomBlob(sql, blob)
      })
      return undefined
    }
    const copy = newObject(parts.randomBytes)
    // The copy counts before it exists. If this process dies, the sweep removes it.
    const dueAt = parts.clock.now() + DEAD_COPY_MS
    await parts.storage.transaction((sql) => doomCopyOf(sql, blob, { copy, dueAt }))
    if (await direct.copy(written, copy)) return await keepCopy(blob, { ...written, object: copy }, parts)
    await parts.storage.unsyncedTransaction((sql) => spareObject(sql, copy))
  }
  return undefined
}

async function keepCopy(
  blob: BlobRow,
  copy: StoredBlob,
  parts: UploadParts,
): Promise<StoredBlob | undefined> {
  const { object, bytes } = copy
  const isStored = await parts.storage.transaction(async (sql) => {
    // Another process may have adopted it, or the account was deleted.
    if (!(await lockInState(sql, blob, 'awaited'))) return false
    // The sweep may have removed the copy, if the clock has jumped.
    if (!(await spareObject(sql, object))) return false
    // The bearer can write to the link until it expires.
    await doomObjectOf(sql, blob)
    return await markStored(sql, { was: blob, from: 'awaited', object, bytes }, parts)
  })
  if (isStored) return { object, bytes }
  await removeDoomed(object, parts)
  return undefined
}

// Sets the blob back to `open`, so that parts can be written.
async function reopen(
  blob: BlobRow,
  completion: Exclude<Completion, 'done'>,
  parts: UploadParts,
): Promise<ProtocolError> {
  if (completion === 'changed') {
    await beginAgain(blob, parts)
    return new ProtocolError('PARTS_MISMATCH')
  }
  await parts.storage.transaction(async (sql) => {
    if (!(await lockInState(sql, blob, 'completing'))) return
    await sql`UPDATE media_blobs SET state = 'open' WHERE id = ${blob.id}`
  })
  return new ProtocolError('INVALID_FIELD', {
    field: 'parts',
    rule: 'must each be at least 5 MiB, but for the last: this relay’s store takes no smaller ones',
  })
}

// The store's parts differ from the database's, so none can be trusted, and the client must upload all of
// them again: to another object, because nobody knows what the old one holds.
async function beginAgain(blob: BlobRow, parts: UploadParts): Promise<void> {
  const object = newObject(parts.randomBytes)
  const handle = await parts.store.begin(object)
  const isOurs = await parts.storage.transaction(async (sql) => {
    const [row] = await sql<{ id: BlobNumber }>`
      UPDATE media_blobs SET state = state
      WHERE id = ${blob.id} AND object = ${blob.object} AND state = 'completing' RETURNING id`
    if (!row) return false
    await doomObjectOf(sql, blob)
    await sql`DELETE FROM media_parts WHERE blob = ${blob.id}`
    await sql`DELETE FROM media_writes WHERE blob = ${blob.id}`
    await sql`
      UPDATE media_blobs SET state = 'open', object = ${object}, handle = ${handle}, bytes = 0, leftover_bytes = 0,
        parts = 0
      WHERE id = ${blob.id}`
    return true
  })
  if (isOurs) await removeDoomed(blob.object, parts)
  else await parts.store.remove(object)
}

function areTheSame(storedParts: readonly StoredPart[], named: readonly NamedPart[]): boolean {
  return (
    storedParts.length === named.length &&
    storedParts.every(({ part_number, etag }, i) => {
      return part_number === i + 1 && named[i]?.part_number === i + 1 && named[i].etag === etag
    })
  )
}
