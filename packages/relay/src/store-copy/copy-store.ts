// Copies an embedded store into an empty PostgreSQL. Both sides are marked from the beginning, so that no
// relay works on either. The source is marked as finished before the target can be used: there is never a
// moment at which both could be.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { type CopyMark, findCopyMark, removeCopyMark, writeCopyMark } from '../storage/copy-mark.ts'
import { lockSchema, migrate } from '../storage/migrate.ts'
import { DATABASE_FILE } from '../storage/sqlite.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import { CopyError } from './copy-error.ts'
import { copyMedia, countBlobs, countMissing, type MediaPlaces } from './copy-media.ts'
import { copyTables, type Tell } from './copy-tables.ts'
import { copyNumbers } from './numbers.ts'
import { checkSameTables, readTables } from './tables.ts'
import { verify } from './verify.ts'

/** What a copy works with. */
export interface CopyParts {
  /** The folder of the source, whose lock the caller holds. */
  readonly dataDir: string
  readonly source: Storage
  /** As it is, without migrations. */
  readonly target: Storage
  readonly media: MediaPlaces
  /** Whether blobs that are missing keep the copy from being finished. */
  readonly needsAllMedia: boolean
  /** A new random text. */
  readonly newId: string
  readonly tell: Tell
  /** The most rows of a transaction. */
  readonly sliceRows?: number
}

/** What was copied. */
export interface Copied {
  readonly rows: number
  readonly blobs: number
  /** How many blobs were put into the bucket this time. */
  readonly put: number
  readonly missing: number
}

/**
 * Copies the store, or goes on with a copy of it that was cut off.
 * @returns undefined if it was copied before
 * @throws CopyError if the target has something else, a side was changed meanwhile, or blobs are missing
 */
export async function copyStore(parts: CopyParts): Promise<Copied | undefined> {
  const { dataDir, source, target, media, tell } = parts
  using reading = new Database(join(dataDir, DATABASE_FILE), { readonly: true })
  reading.run('PRAGMA busy_timeout = 5000')
  const missing = await countMissing(reading, media)
  if (missing > 0 && parts.needsAllMedia)
    throw new CopyError(
      `blobs of media are missing in ${media.folder}${media.bucket ? ' and in the bucket' : ''}: ${missing}; correct MEDIA_DIR, or leave them out with --skip-missing`,
    )
  const mark = await begin(parts)
  if (mark.state === 'finished' && (await findCopyMark(target))?.state === 'finished') return undefined
  await migrate(target, 'copy')
  const tables = readTables(reading)
  await checkSameTables(tables, target.sql)
  await copyTables(reading, target, { tables, tell, sliceRows: parts.sliceRows })
  await target.transaction((sql) => copyNumbers(reading, sql))
  const { folder, bucket } = media
  const put = bucket ? await copyMedia(reading, target, { folder, bucket, tell }) : 0
  tell('All is copied. Now both sides are read and compared.')
  const rows = await verify(reading, target, { tables, tell })
  await target.transaction(async (sql) => {
    await sql`ANALYZE`
  })
  await source.transaction((sql) => writeCopyMark(sql, { ...mark, side: 'source', state: 'finished' }))
  await target.transaction(async (sql) => {
    if (bucket) await endUploadsToFolder(sql)
    await sql`DROP TABLE store_copy_progress`
    await writeCopyMark(sql, { ...mark, side: 'target', state: 'finished' })
  })
  return { rows, blobs: countBlobs(reading), put, missing }
}

/**
 * Gives a copy up: its target can never be used again, and its source can.
 * @param target undefined if the target is lost
 * @param moveNumbersAhead is called if clients may have seen numbers that the source does not know
 * @returns whether the copy was finished, so that a relay may have worked on the target
 * @throws CopyError if the source is not being copied, or the target is that of another copy
 */
export async function takeBack(
  source: Storage,
  target: Storage | undefined,
  moveNumbersAhead: () => Promise<void>,
): Promise<boolean> {
  const mark = await findCopyMark(source)
  if (!mark) throw new CopyError('the store in DATA_DIR is not being copied and was not copied')
  if (target) {
    const there = await findCopyMark(target)
    if (there ? there.id !== mark.id : mark.state === 'finished')
      throw new CopyError('the PostgreSQL of DATABASE_URL does not have the copy of this store')
    if (there)
      await target.transaction((sql) => writeCopyMark(sql, { ...mark, side: 'target', state: 'withdrawn' }))
  }
  if (mark.state === 'finished') await moveNumbersAhead()
  await source.transaction((sql) => removeCopyMark(sql))
  return mark.state === 'finished'
}

/** Marks both sides, or finds the marks of a copy that was cut off. @returns the mark of the source */
async function begin({ source, target, newId }: CopyParts): Promise<CopyMark> {
  const mark = await findCopyMark(source)
  return await target.transaction(async (sql) => {
    await lockSchema(sql)
    const there = await findCopyMark({ ...target, sql })
    if (mark && there?.id === mark.id && there.state !== 'withdrawn') return mark
    if (there || (await hasTables(sql)))
      throw new CopyError(
        'the PostgreSQL of DATABASE_URL has tables already, and they are no copy of this store that could go on; name an empty database',
      )
    if (mark?.state === 'finished')
      throw new CopyError(
        'this store was copied into another PostgreSQL already; set DATABASE_URL to that, or give it up with "sotto copy --take-back"',
      )
    // A new id each time: a database that has a half copy under the former id can never be finished.
    const begun: CopyMark = { id: newId, side: 'source', state: 'begun' }
    await source.transaction((own) => writeCopyMark(own, begun))
    await writeCopyMark(sql, { ...begun, side: 'target' })
    await sql`
      CREATE TABLE store_copy_progress (name TEXT PRIMARY KEY, after_key TEXT, copied BIGINT NOT NULL,
        is_done BIGINT NOT NULL)`
    return begun
  })
}

async function hasTables(sql: Sql): Promise<boolean> {
  const rows = await sql`
    SELECT 1 AS found FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace LIMIT 1`
  return rows.length > 0
}

// Uploads whose parts are in the folder cannot be completed in a bucket. The sweep removes them, and their
// clients begin again. Uploads to a bucket have a handle.
async function endUploadsToFolder(sql: Sql): Promise<void> {
  await sql`UPDATE media_blobs SET expires_at = 0 WHERE state IN ('open', 'completing') AND handle = ''`
}
