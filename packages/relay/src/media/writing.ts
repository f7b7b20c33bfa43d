// Writes to a blob: reserves room, sends the bytes to the store, and then records them in the database. A
// write that fails releases its room. Nothing needs to survive a power cut before the upload is completed,
// because completing checks what the store really has.
import { ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import { randomText } from '../operations/random.ts'
import type { Sql } from '../storage/storage.ts'
import { PartLeftOver } from './blob-store.ts'
import {
  type BlobNumber,
  type BlobParts,
  type BlobRow,
  checkRoom,
  leftoverOf,
  lockInState,
  markCompleting,
  type UploadOf,
} from './blobs.ts'
import { joinParts, queueNameOf, type UploadParts } from './completing.ts'
import { incoming, type UploadBody } from './incoming.ts'

/** A write counts as dead this long after its time limit. */
const GRACE_MS = 60_000

/** One attempt to write a part. `version` is its unique name. */
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
  body: UploadBody,
  parts: UploadParts,
): Promise<string> {
  const target = { upload: queueNameOf(upload), number: upload.number }
  return await parts.queue.run(target, parts.limits.mediaPartSeconds, async (ending) => {
    const { attempt, mostBytes } = await reserveRoom(upload, body, parts)
    const written = await writeToStore(attempt, { ...body, mostBytes }, ending, parts)
    const { isKept, replaced } = await parts.storage.unsyncedTransaction((sql) =>
      keepPart(sql, attempt, written),
    )
    const { blob, number } = attempt
    if (!isKept) {
      await parts.store.dropPart(blob, { number, etag: written.etag })
      throw new ProtocolError('NOT_FOUND')
    }
    if (replaced) {
      const isGone = await parts.store.dropPart(blob, { number, etag: replaced.etag })
      if (isGone) await parts.storage.unsyncedTransaction((sql) => forgetLeftover(sql, blob, replaced.bytes))
    }
    return written.etag
  })
}

/**
 * Writes a whole blob through a link.
 * @throws ProtocolError `ALREADY_STORED`, `PAYLOAD_TOO_LARGE`, `BODY_INCOMPLETE`, `INVALID_FIELD`
 */
export async function writeWhole(blob: BlobRow, body: UploadBody, parts: UploadParts): Promise<void> {
  const { storage, store, limits } = parts
  const exact = blob.exact_bytes ?? undefined
  if (exact !== undefined && body.length !== undefined && body.length !== exact) throw wrongSize(exact)
  await parts.queue.run({ upload: blob.object, number: 1 }, limits.mediaPartSeconds, async (ending) => {
    const attempt = await storage.unsyncedTransaction(async (sql) => {
      if (!(await lockInState(sql, blob, 'awaited'))) throw new ProtocolError('ALREADY_STORED')
      const fresh = { blob, number: 1, version: randomText(parts.randomBytes, 12) }
      await addWrite(sql, fresh, 0, parts) // Its room was reserved with the link.
      return fresh
    })
    const mostBytes = exact ?? limits.mediaBytes
    const written = await writeToStore(attempt, { ...body, mostBytes }, ending, parts)
    const isExact = exact === undefined || written.bytes === exact
    const isOurs = await storage.transaction(async (sql) => {
      const isAwaited = await lockInState(sql, blob, 'awaited')
      if (!(await releaseRoom(sql, attempt)) || !isAwaited || !isExact) return false
      await markCompleting(sql, blob, parts)
      return true
    })
    const stored = [{ part_number: 1, ...written }]
    if (isOurs) await joinParts(blob, { stored, mayHoldMore: false }, parts)
    else {
      await store.dropPart(blob, { number: 1, etag: written.etag })
      throw isExact ? new ProtocolError('ALREADY_STORED') : wrongSize(exact)
    }
  })
}

/** A write that exceeded its time: its process no longer runs. */
export interface DeadWrite {
  readonly blob: BlobNumber
  readonly part_number: number
  readonly version: string
}

/** A batch of the writes that exceeded their time. */
export async function findDeadWrites({ storage, clock }: UploadParts): Promise<DeadWrite[]> {
  return await storage.sql<DeadWrite>`
    SELECT blob, part_number, version FROM media_writes WHERE expires_at <= ${clock.now()} LIMIT 200`
}

/**
 * Ends a dead write, and removes what it wrote. What the store cannot remove counts until the upload ends.
 */
export async function endDeadWrite(
  { blob: id, part_number: number, version }: DeadWrite,
  { storage, store }: UploadParts,
): Promise<void> {
  const blob = await storage.transaction(async (sql) => {
    const [row] = await sql<BlobRow>`
      UPDATE media_blobs SET state = state WHERE id = ${id}
      RETURNING id, media_key, state, object, handle, bytes, exact_bytes`
    return row && { row, bytes: await leaveRoom(sql, { blob: row, number, version }) }
  })
  if (!blob) return
  const { row, bytes } = blob
  const isGone = await store.dropAttempt(row, { number, version })
  if (isGone) await storage.unsyncedTransaction((sql) => forgetLeftover(sql, row, bytes))
}

async function reserveRoom(
  { uploadId, account, mediaKey, number }: UploadOf & { mediaKey: string; number: number },
  body: UploadBody,
  parts: UploadParts,
): Promise<{ attempt: Attempt; mostBytes: number }> {
  const { storage, limits } = parts
  return await storage.unsyncedTransaction(async (sql) => {
    if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
    const [blob] = await sql<BlobRow>`
      UPDATE media_blobs SET state = state
      WHERE upload_id = ${uploadId} AND media_key = ${mediaKey} AND account_id = ${account} AND state = 'open'
      RETURNING id, media_key, state, object, handle, bytes, exact_bytes`
    if (!blob) throw new ProtocolError('NOT_FOUND')
    const replaced = await replacedBytes(sql, blob.id, number)
    const left = limits.mediaBytes - (blob.bytes - (await leftoverOf(sql, blob)) - replaced)
    // A body of unknown length reserves all the room it might need.
    const bytes = body.length ?? Math.min(body.mostBytes, left)
    if (bytes > left || left < 1) throw new ProtocolError('PAYLOAD_TOO_LARGE')
    await checkRoom(sql, account, { bytes: bytes - replaced, parts: 1 }, parts)
    const attempt = { blob, number, version: randomText(parts.randomBytes, 12) }
    await addWrite(sql, attempt, bytes, parts)
    return { attempt, mostBytes: bytes }
  })
}

// The bytes that the new part replaces: those of the stored part, and those of a running attempt.
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
  if (before) await leaveRoom(sql, { blob, number, version: before.version })
  await sql`
    INSERT INTO media_writes (blob, part_number, version, bytes, expires_at)
    VALUES (${blob.id}, ${number}, ${version}, ${bytes}, ${expiresAt})`
  if (bytes === 0) return
  await sql`UPDATE media_blobs SET bytes = bytes + ${bytes}, parts = parts + 1 WHERE id = ${blob.id}`
}

async function writeToStore(
  attempt: Attempt,
  body: UploadBody,
  ending: AbortSignal,
  { storage, store, space }: UploadParts,
): Promise<Written> {
  try {
    // Only now, when the account has room for it: a request that is refused must not hold space.
    return await space.holdMedia(body.length ?? body.mostBytes, () =>
      store.writePart(attempt.blob, attempt, incoming(body, ending)),
    )
  } catch (error) {
    const isOpen = await storage.unsyncedTransaction(async (sql) => {
      const exists = await lockInState(sql, attempt.blob, attempt.blob.state)
      await (error instanceof PartLeftOver ? leaveRoom(sql, attempt) : releaseRoom(sql, attempt))
      return exists
    })
    // The upload was aborted or completed meanwhile.
    if (!isOpen) throw new ProtocolError('NOT_FOUND')
    throw error instanceof PartLeftOver ? error.cause : error
  }
}

/** @returns whether the part was recorded, and the part that it replaces, whose bytes still count */
async function keepPart(
  sql: Sql,
  attempt: Attempt,
  { etag, bytes }: Written,
): Promise<{ isKept: boolean; replaced: Written | undefined }> {
  const { blob, number } = attempt
  const isOpen = await lockInState(sql, blob, 'open')
  if (!(await releaseRoom(sql, attempt)) || !isOpen) return { isKept: false, replaced: undefined }
  const [before] = await sql<Written>`
    DELETE FROM media_parts WHERE blob = ${blob.id} AND part_number = ${number} RETURNING bytes, etag`
  await sql`
    INSERT INTO media_parts (blob, part_number, bytes, etag) VALUES (${blob.id}, ${number}, ${bytes}, ${etag})`
  await sql`
    UPDATE media_blobs SET bytes = bytes + ${bytes}, leftover_bytes = leftover_bytes + ${before?.bytes ?? 0},
      parts = parts + ${before ? 0 : 1}
    WHERE id = ${blob.id}`
  return { isKept: true, replaced: before }
}

// Ends a write and releases its room. Returns false if another attempt has replaced it.
async function releaseRoom(sql: Sql, { blob, number, version }: Attempt): Promise<boolean> {
  const [gone] = await sql<{ bytes: number }>`
    DELETE FROM media_writes WHERE blob = ${blob.id} AND part_number = ${number} AND version = ${version}
    RETURNING bytes`
  if (gone && gone.bytes > 0) {
    await sql`UPDATE media_blobs SET bytes = bytes - ${gone.bytes}, parts = parts - 1 WHERE id = ${blob.id}`
  }
  return gone !== undefined
}

// Ends a write whose bytes the store may hold. They count until the upload ends. Returns how many.
async function leaveRoom(sql: Sql, { blob, number, version }: Attempt): Promise<number> {
  const [gone] = await sql<{ bytes: number }>`
    DELETE FROM media_writes WHERE blob = ${blob.id} AND part_number = ${number} AND version = ${version}
    RETURNING bytes`
  if (!gone) return 0
  if (blob.state === 'awaited') {
    // The room of a link was reserved with the link, and the next attempt needs it again.
    await sql`
      UPDATE media_blobs SET bytes = bytes + bytes - leftover_bytes, leftover_bytes = bytes WHERE id = ${blob.id}`
    return 0
  }
  await sql`
    UPDATE media_blobs SET leftover_bytes = leftover_bytes + ${gone.bytes}, parts = parts - ${gone.bytes > 0 ? 1 : 0}
    WHERE id = ${blob.id}`
  return gone.bytes
}

// The store has removed bytes that counted as left over. If the upload has ended, they no longer count.
async function forgetLeftover(sql: Sql, { id }: Pick<BlobRow, 'id'>, bytes: number): Promise<void> {
  await sql`
    UPDATE media_blobs SET bytes = bytes - ${bytes}, leftover_bytes = leftover_bytes - ${bytes}
    WHERE id = ${id} AND state = 'open' AND leftover_bytes >= ${bytes}`
}

function wrongSize(exact: number | undefined): ProtocolError {
  return new ProtocolError('INVALID_FIELD', { field: 'body', rule: `must be ${exact ?? 0} bytes long` })
}
