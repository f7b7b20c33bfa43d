// Blobs as rows: adds them, finds them, and changes their state; and counts the storage that an account uses.
// Room is reserved before a byte is written and with the account locked, so that two uploads never use the
// same room.
import { type Limits, type MediaKey, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { inSlices, moreAfter, ROWS_PER_SLICE, type Sliced } from '../operations/slices.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import type { StoredBlob, StoredPart, UploadPlace } from './blob-store.ts'
import type { MediaBudget } from './budget.ts'

declare const blobNumber: unique symbol
/** The database's number of a blob. */
export type BlobNumber = number & { readonly [blobNumber]: true }

/** The parts that the functions of this file need. */
export interface BlobParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly budget: Pick<MediaBudget, 'check'>
}

/** A blob's row. */
export interface BlobRow extends UploadPlace {
  readonly id: BlobNumber
  readonly media_key: MediaKey
  readonly state: 'open' | 'completing' | 'awaited' | 'stored'
  readonly bytes: number
  readonly exact_bytes: number | null
}

/** The bytes of an account's media, and the number of parts. */
export interface Usage {
  readonly bytes: number
  readonly parts: number
}

/** Names an upload of an account. */
export interface UploadOf {
  readonly uploadId: string
  readonly account: AccountId
}

/**
 * Adds a row for a new blob, which will be uploaded in parts or through a link. For a link, its room is
 * reserved at once.
 * @throws ProtocolError `TOO_MANY_UPLOADS`, `STORAGE_FULL`, `TOKEN_DEAD`
 */
export async function addBlob(
  account: AccountId,
  kind: { state: 'open' } | { state: 'awaited'; exactBytes: number | undefined },
  parts: BlobParts,
): Promise<{ blob: BlobRow; uploadId: string }> {
  const { storage, clock, randomBytes, limits } = parts
  const isAwaited = kind.state === 'awaited'
  const bytes = isAwaited ? (kind.exactBytes ?? limits.mediaBytes) : 0
  const lifeMs = (isAwaited ? limits.mediaLinkSeconds : limits.mediaUploadHours * 3600) * 1000
  const uploadId = `up_${randomText(randomBytes, 16)}`
  const blob = await storage.transaction(async (sql) => {
    if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
    const [underWay] = await sql<{ count: number }>`
      SELECT COUNT(*) AS count FROM media_blobs WHERE account_id = ${account} AND state <> 'stored'`
    if ((underWay?.count ?? 0) >= limits.mediaUploads) throw new ProtocolError('TOO_MANY_UPLOADS')
    await checkRoom(sql, account, { bytes, parts: 1 }, parts)
    const [row] = await sql<BlobRow>`
      INSERT INTO media_blobs (media_key, upload_id, account_id, state, object, handle, bytes, parts, exact_bytes, expires_at)
      VALUES (${`m_${randomText(randomBytes, 16)}`}, ${uploadId}, ${account}, ${kind.state}, ${newObject(randomBytes)}, '',
        ${bytes}, ${isAwaited ? 1 : 0}, ${isAwaited ? (kind.exactBytes ?? null) : null}, ${clock.now() + lifeMs})
      RETURNING id, media_key, state, object, handle, bytes, exact_bytes`
    return row
  })
  if (!blob) throw new Error('the blob was not added')
  return { blob, uploadId }
}

/** A new, unique name for an object. */
export function newObject(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('hex')
}

/** An upload in parts of this account, which may be complete already. @throws ProtocolError `NOT_FOUND` */
export async function getUpload(sql: Sql, { uploadId, account }: UploadOf): Promise<BlobRow> {
  const [row] = await sql<BlobRow>`
    SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
    WHERE upload_id = ${uploadId} AND account_id = ${account} AND state <> 'awaited'`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return row
}

/**
 * Like {@link getUpload}, and locks the row, so that nobody else can change it. @throws ProtocolError
 * `NOT_FOUND`
 */
export async function lockUpload(sql: Sql, { uploadId, account }: UploadOf): Promise<BlobRow> {
  const [row] = await sql<BlobRow>`
    UPDATE media_blobs SET state = state
    WHERE upload_id = ${uploadId} AND account_id = ${account} AND state <> 'awaited'
    RETURNING id, media_key, state, object, handle, bytes, exact_bytes`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return row
}

/** The stored parts of a blob, in order. */
export async function listParts(sql: Sql, blob: BlobNumber): Promise<StoredPart[]> {
  return await sql<StoredPart>`
    SELECT part_number, bytes, etag FROM media_parts WHERE blob = ${blob} ORDER BY part_number`
}

/** The bytes of an upload that no part names, but that the store may hold until the upload ends. */
export async function leftoverOf(sql: Sql, { id }: Pick<BlobRow, 'id'>): Promise<number> {
  const [row] = await sql<{ leftover_bytes: number }>`SELECT leftover_bytes FROM media_blobs WHERE id = ${id}`
  return row?.leftover_bytes ?? 0
}

/**
 * Whether the store may hold parts of an upload besides the recorded ones: what failed writes have left, and
 * what running writes, or those of a process that died, may have written.
 */
export async function mayHoldOthers(sql: Sql, blob: Pick<BlobRow, 'id'>): Promise<boolean> {
  const [row] = await sql<{
    count: number
  }>`SELECT COUNT(*) AS count FROM media_writes WHERE blob = ${blob.id}`
  return row?.count !== 0 || (await leftoverOf(sql, blob)) > 0
}

/** The blob with this key, if it is stored completely. */
export async function findStoredBlob(sql: Sql, key: MediaKey): Promise<StoredBlob | undefined> {
  const [row] = await sql<BlobRow>`
    SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
    WHERE media_key = ${key} AND state = 'stored'`
  return row && { object: row.object, bytes: row.bytes }
}

/** The blob with this object name, if it is stored completely. */
export async function findStoredObject(sql: Sql, object: string): Promise<StoredBlob | undefined> {
  const [row] = await sql<BlobRow>`
    SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
    WHERE object = ${object} AND state = 'stored'`
  return row && { object, bytes: row.bytes }
}

/** A blob that waits to be written through a link, by its key or by its object's name. */
export async function findAwaitedBlob(
  sql: Sql,
  by: { key: MediaKey } | { object: string },
): Promise<BlobRow | undefined> {
  const [row] =
    'key' in by
      ? await sql<BlobRow>`
          SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
          WHERE media_key = ${by.key} AND state = 'awaited'`
      : await sql<BlobRow>`
          SELECT id, media_key, state, object, handle, bytes, exact_bytes FROM media_blobs
          WHERE object = ${by.object} AND state = 'awaited'`
  return row
}

/**
 * The room that an account's media uses, including uploads that are not complete, and objects that are not
 * removed yet.
 */
export async function usageOf(sql: Sql, account: AccountId): Promise<Usage> {
  const [usage] = await sql<Usage>`
    SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes, CAST(COALESCE(SUM(parts), 0) AS BIGINT) AS parts
    FROM (
      SELECT bytes, parts FROM media_blobs WHERE account_id = ${account}
      UNION ALL SELECT bytes, 0 AS parts FROM media_doomed WHERE account_id = ${account}
    ) AS used`
  return usage ?? { bytes: 0, parts: 0 }
}

/**
 * @throws ProtocolError `STORAGE_FULL` if the account has no room for this, and `RELAY_FULL` if the relay has
 *   none
 */
export async function checkRoom(
  sql: Sql,
  account: AccountId,
  more: Usage,
  { limits, budget }: Pick<BlobParts, 'limits' | 'budget'>,
): Promise<void> {
  const used = await usageOf(sql, account)
  const isFull =
    used.bytes + more.bytes > limits.mediaAccountBytes || used.parts + more.parts > limits.mediaAccountParts
  if (isFull) throw new ProtocolError('STORAGE_FULL')
  await budget.check(sql, Math.max(more.bytes, 1)) // An upload in parts has no bytes yet, but will have some.
}

/** Locks a blob. @returns whether it exists in this state */
export async function lockInState(
  sql: Sql,
  { id }: Pick<BlobRow, 'id'>,
  state: BlobRow['state'],
): Promise<boolean> {
  const rows = await sql<{ id: BlobNumber }>`
    UPDATE media_blobs SET state = state WHERE id = ${id} AND state = ${state} RETURNING id`
  return rows.length > 0
}

/** Marks a blob as being completed. It has the same time for that as for the upload. */
export async function markCompleting(
  sql: Sql,
  { id }: Pick<BlobRow, 'id'>,
  { clock, limits }: Pick<BlobParts, 'clock' | 'limits'>,
): Promise<void> {
  const endsAt = clock.now() + limits.mediaUploadHours * 3_600_000
  await sql`UPDATE media_blobs SET state = 'completing', expires_at = ${endsAt} WHERE id = ${id}`
}

/**
 * Makes a blob readable, until blobs expire.
 * @returns false if it is no longer in the state `from`, or has another object than `was`
 */
export async function markStored(
  sql: Sql,
  blob: { was: BlobRow; from: 'completing' | 'awaited'; object: string; bytes: number },
  { clock, limits }: Pick<BlobParts, 'clock' | 'limits'>,
): Promise<boolean> {
  const endsAt = clock.now() + limits.mediaLifeDays * 86_400_000
  const rows = await sql<{ id: BlobNumber }>`
    UPDATE media_blobs SET state = 'stored', object = ${blob.object}, bytes = ${blob.bytes}, leftover_bytes = 0,
      parts = 1, handle = '', expires_at = ${endsAt}
    WHERE id = ${blob.was.id} AND object = ${blob.was.object} AND state = ${blob.from} RETURNING id`
  if (rows.length === 0) return false
  // Writes that are still running come too late. Without their rows they cannot release room a second time.
  await sql`DELETE FROM media_writes WHERE blob = ${blob.was.id}`
  await sql`DELETE FROM media_parts WHERE blob = ${blob.was.id}`
  return true
}

/** Deletes a blob's rows and marks its object for removal by the sweep. Until then, the object counts. */
export async function doomBlob(sql: Sql, { id }: Pick<BlobRow, 'id'>): Promise<void> {
  await doomObjectOf(sql, { id })
  await sql`DELETE FROM media_writes WHERE blob = ${id}`
  await sql`DELETE FROM media_parts WHERE blob = ${id}`
  await sql`DELETE FROM media_blobs WHERE id = ${id}`
}

/** Deletes a blob of which the store has nothing. Its object is removed all the same, but does not count. */
export async function doomEmptyBlob(sql: Sql, { id }: Pick<BlobRow, 'id'>): Promise<void> {
  await sql`UPDATE media_blobs SET state = 'open', bytes = 0 WHERE id = ${id}`
  await doomBlob(sql, { id })
}

/**
 * Marks the object that a blob has now for removal by the sweep. Until then, its bytes count. An object that
 * a link leads to is removed when the link expires: until then, it could be written again.
 */
export async function doomObjectOf(sql: Sql, { id }: Pick<BlobRow, 'id'>): Promise<void> {
  await sql`
    INSERT INTO media_doomed (object, account_id, bytes, due_at)
    SELECT object, account_id, bytes, CASE WHEN state = 'awaited' THEN expires_at ELSE 0 END
    FROM media_blobs WHERE id = ${id} ON CONFLICT DO NOTHING`
}

/** Counts a copy of a blob's object, and marks it for removal by the sweep, unless it is spared before. */
export async function doomCopyOf(
  sql: Sql,
  { id }: Pick<BlobRow, 'id'>,
  { copy, dueAt }: { copy: string; dueAt: number },
): Promise<void> {
  await sql`
    INSERT INTO media_doomed (object, account_id, bytes, due_at)
    SELECT CAST(${copy} AS TEXT), account_id, bytes, CAST(${dueAt} AS BIGINT) FROM media_blobs WHERE id = ${id}`
}

/** An object is not removed, or is gone already. @returns whether it was marked for removal */
export async function spareObject(sql: Sql, object: string): Promise<boolean> {
  const rows = await sql<{
    object: string
  }>`DELETE FROM media_doomed WHERE object = ${object} RETURNING object`
  return rows.length > 0
}

/** Marks an object that no blob has for removal by the sweep. */
export async function doomObject(sql: Sql, object: string): Promise<void> {
  await sql`INSERT INTO media_doomed (object) VALUES (${object}) ON CONFLICT DO NOTHING`
}

/** Deletes the blobs of a deleted account. */
export async function eraseMedia(account: AccountId, sliced: Sliced): Promise<void> {
  await inSlices(sliced, 'more', async (sql) => {
    const found = await sql<{ id: BlobNumber }>`
      SELECT id FROM media_blobs WHERE account_id = ${account} ORDER BY id LIMIT ${ROWS_PER_SLICE}`
    for (const { id } of found) {
      // Locked first, so that a change under way ends before.
      const [blob] = await sql<{ id: BlobNumber }>`
        UPDATE media_blobs SET state = state WHERE id = ${id} RETURNING id`
      if (blob) await doomBlob(sql, blob)
    }
    return moreAfter(found)
  })
}
