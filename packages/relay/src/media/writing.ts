// Writing to a blob: room is taken, bytes go to the store, and then the database names them. What came to nothing gives its room
// back. None of it has to outlast a power cut before the upload is completed: completing looks at what is really there.
import { ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { RawBody } from '../listener/route.ts'
import { randomText } from '../operations/random.ts'
import type { Sql } from '../storage/storage.ts'
import {
  type BlobNumber,
  type BlobParts,
  type BlobRow,
  checkRoom,
  isStill,
  markCompleting,
  type UploadOf,
} from './blobs.ts'
import { putTogether, queueNameOf, type UploadParts } from './completing.ts'
import { incoming } from './incoming.ts'

/** How long after its last moment a write is taken for dead. */
const GRACE_MS = 60_000

/** One attempt to write a part; `version` names it. */
interface Attempt {
  readonly blob: BlobRow
  readonly number: number
  readonly version: string
}

interface Written {
  readonly etag: string
  readonly bytes: number
}

/**
 * Writes a part of an upload.
 * @returns its etag
 * @throws ProtocolError `NOT_FOUND`, `STORAGE_FULL`, `PAYLOAD_TOO_LARGE`, `BODY_INCOMPLETE`
 */
export async function writePart(
  upload: UploadOf & { mediaKey: string; number: number },
  body: RawBody,
  parts: UploadParts,
): Promise<string> {
  const target = { upload: queueNameOf(upload), number: upload.number }
  return await parts.queue.take(target, parts.limits.mediaPartSeconds, async (ending) => {
    const { attempt, mostBytes } = await takeRoom(upload, body, parts)
    const written = await carryOut(attempt, { ...body, mostBytes }, ending, parts)
    const { isKept, unwanted } = await parts.storage.passing((sql) => keepPart(sql, attempt, written))
    if (unwanted !== undefined) {
      await parts.store.dropPart(attempt.blob, { number: attempt.number, etag: unwanted })
    }
    if (!isKept) throw new ProtocolError('NOT_FOUND')
    return written.etag
  })
}

/**
 * Writes the whole of a blob that a link was given out for.
 * @throws ProtocolError `ALREADY_STORED`, `PAYLOAD_TOO_LARGE`, `BODY_INCOMPLETE`
 */
export async function writeWhole(blob: BlobRow, body: RawBody, parts: UploadParts): Promise<void> {
  const { storage, store, limits } = parts
  const exact = blob.exact_bytes ?? undefined
  if (exact !== undefined && body.length !== undefined && body.length !== exact) throw wrongSize(exact)
  await parts.queue.take({ upload: blob.object, number: 1 }, limits.mediaPartSeconds, async (ending) => {
    const attempt = await storage.passing(async (sql) => {
      if (!(await isStill(sql, blob, 'awaited'))) throw new ProtocolError('ALREADY_STORED')
      const fresh = { blob, number: 1, version: randomText(parts.randomBytes, 12) }
      await addWrite(sql, fresh, 0, parts) // Its room was taken with the link.
      return fresh
    })
    const mostBytes = exact ?? limits.mediaBytes
    const written = await carryOut(attempt, { ...body, mostBytes }, ending, parts)
    const isExact = exact === undefined || written.bytes === exact
    const isOurs = await storage.transaction(async (sql) => {
      const isAwaited = await isStill(sql, blob, 'awaited')
      if (!(await giveBack(sql, attempt)) || !isAwaited || !isExact) return false
      await markCompleting(sql, blob, parts)
      return true
    })
    if (isOurs) await putTogether(blob, [{ part_number: 1, ...written }], parts)
    else {
      await store.dropPart(blob, { number: 1, etag: written.etag })
      throw isExact ? new ProtocolError('ALREADY_STORED') : wrongSize(exact)
    }
  })
}

/** A write that outlived its time: the process that made it is gone. */
export interface DeadWrite {
  readonly blob: BlobNumber
  readonly part_number: number
  readonly version: string
}

/** Some of the writes that outlived their time. */
export async function findDeadWrites({ storage, clock }: UploadParts): Promise<DeadWrite[]> {
  return await storage.sql<DeadWrite>`
    SELECT blob, part_number, version FROM media_writes WHERE expires_at <= ${clock.now()} LIMIT 200`
}

/** Gives the room of a write back, and has the store forget what came of it. */
export async function endDeadWrite(
  { blob: id, part_number: number, version }: DeadWrite,
  { storage, store }: UploadParts,
): Promise<void> {
  const blob = await storage.transaction(async (sql) => {
    const [row] = await sql<BlobRow>`
      UPDATE media_blobs SET state = state WHERE id = ${id}
      RETURNING id, media_key, state, object, handle, bytes, exact_bytes`
    if (row) await giveBack(sql, { blob: row, number, version })
    return row
  })
  if (blob) await store.dropPart(blob, { number, etag: version })
}

async function takeRoom(
  { uploadId, account, mediaKey, number }: UploadOf & { mediaKey: string; number: number },
  body: RawBody,
  parts: UploadParts,
): Promise<{ attempt: Attempt; mostBytes: number }> {
  const { storage, limits } = parts
  return await storage.passing(async (sql) => {
    if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
    const [blob] = await sql<BlobRow>`
      UPDATE media_blobs SET state = state
      WHERE upload_id = ${uploadId} AND media_key = ${mediaKey} AND account_id = ${account} AND state = 'open'
      RETURNING id, media_key, state, object, handle, bytes, exact_bytes`
    if (!blob) throw new ProtocolError('NOT_FOUND')
    const replaced = await replacedBytes(sql, blob.id, number)
    const left = limits.mediaBytes - (blob.bytes - replaced)
    // A body that does not say how long it is takes all the room it might need.
    const bytes = body.length ?? Math.min(body.mostBytes, left)
    if (bytes > left || left < 1) throw new ProtocolError('PAYLOAD_TOO_LARGE')
    await checkRoom(sql, account, { bytes: bytes - replaced, parts: 1 }, limits)
    const attempt = { blob, number, version: randomText(parts.randomBytes, 12) }
    await addWrite(sql, attempt, bytes, parts)
    return { attempt, mostBytes: bytes }
  })
}

// What stops counting once the part is there: the one before it, and an attempt that this one takes the place of.
async function replacedBytes(sql: Sql, blob: BlobNumber, number: number): Promise<number> {
  const [part] = await sql<{ bytes: number }>`
    SELECT bytes FROM media_parts WHERE blob = ${blob} AND part_number = ${number}`
  const [write] = await sql<{ bytes: number }>`
    SELECT bytes FROM media_writes WHERE blob = ${blob} AND part_number = ${number}`
  return (part?.bytes ?? 0) + (write?.bytes ?? 0)
}

async function addWrite(sql: Sql, attempt: Attempt, bytes: number, parts: BlobParts): Promise<void> {
  const { blob, number, version } = attempt
  const expiresAt = parts.clock.now() + parts.limits.mediaPartSeconds * 1000 + GRACE_MS
  const [before] = await sql<{ version: string }>`
    SELECT version FROM media_writes WHERE blob = ${blob.id} AND part_number = ${number}`
  if (before) await giveBack(sql, { blob, number, version: before.version })
  await sql`
    INSERT INTO media_writes (blob, part_number, version, bytes, expires_at)
    VALUES (${blob.id}, ${number}, ${version}, ${bytes}, ${expiresAt})`
  if (bytes === 0) return
  await sql`UPDATE media_blobs SET bytes = bytes + ${bytes}, parts = parts + 1 WHERE id = ${blob.id}`
}

async function carryOut(
  attempt: Attempt,
  body: RawBody,
  ending: AbortSignal,
  { storage, store }: UploadParts,
): Promise<Written> {
  try {
    return await store.writePart(attempt.blob, attempt, incoming(body, ending))
  } catch (error) {
    const isOpen = await storage.passing(async (sql) => {
      const isThere = await isStill(sql, attempt.blob, attempt.blob.state)
      await giveBack(sql, attempt)
      return isThere
    })
    // Given up or completed meanwhile, so that there was nothing to write to any more.
    throw isOpen ? error : new ProtocolError('NOT_FOUND')
  }
}

/** @returns whether the part counts, and the etag of one that does not and can go */
async function keepPart(
  sql: Sql,
  attempt: Attempt,
  { etag, bytes }: Written,
): Promise<{ isKept: boolean; unwanted: string | undefined }> {
  const { blob, number } = attempt
  const isOpen = await isStill(sql, blob, 'open')
  if (!(await giveBack(sql, attempt)) || !isOpen) return { isKept: false, unwanted: etag }
  const [before] = await sql<{ bytes: number; etag: string }>`
    DELETE FROM media_parts WHERE blob = ${blob.id} AND part_number = ${number} RETURNING bytes, etag`
  await sql`
    INSERT INTO media_parts (blob, part_number, bytes, etag) VALUES (${blob.id}, ${number}, ${bytes}, ${etag})`
  await sql`
    UPDATE media_blobs SET bytes = bytes + ${bytes - (before?.bytes ?? 0)}, parts = parts + ${before ? 0 : 1}
    WHERE id = ${blob.id}`
  return { isKept: true, unwanted: before?.etag }
}

// Ends a write and gives its room back. False where another one has taken its place.
async function giveBack(sql: Sql, { blob, number, version }: Attempt): Promise<boolean> {
  const [gone] = await sql<{ bytes: number }>`
    DELETE FROM media_writes WHERE blob = ${blob.id} AND part_number = ${number} AND version = ${version}
    RETURNING bytes`
  if (gone && gone.bytes > 0) {
    await sql`UPDATE media_blobs SET bytes = bytes - ${gone.bytes}, parts = parts - 1 WHERE id = ${blob.id}`
  }
  return gone !== undefined
}

function wrongSize(exact: number | undefined): ProtocolError {
  return new ProtocolError('INVALID_FIELD', { field: 'body', rule: `must be ${exact ?? 0} bytes long` })
}
