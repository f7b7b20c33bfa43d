// The settings of a PostgreSQL server that decide whether a commit survives a crash or a power cut.
import type { Sql, UnsafeSetting } from './storage.ts'

const FSYNC_OFF: UnsafeSetting = {
  state: 'fsync_off',
  losesCommits: true,
  reason:
    'fsync is off in the PostgreSQL of DATABASE_URL, so a power cut loses acknowledged messages; set fsync = on',
}
const FULL_PAGE_WRITES_OFF: UnsafeSetting = {
  state: 'full_page_writes_off',
  losesCommits: false,
  reason:
    'full_page_writes is off in the PostgreSQL of DATABASE_URL; unless its file system never writes half a page (ZFS), a power cut can destroy the database',
}

/** The database cannot keep what the relay promises. The message tells the operator why. */
export class StorageUnsafe extends Error {
  override readonly name = 'StorageUnsafe'
}

/** The wrong setting that is in force now, the worst one first; undefined if there is none. */
export async function findUnsafeSetting(sql: Sql): Promise<UnsafeSetting | undefined> {
  const [row] = await sql<{ fsync: string; pages: string }>`
    SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages`
  if (row?.fsync !== 'on') return FSYNC_OFF
  return row.pages === 'on' ? undefined : FULL_PAGE_WRITES_OFF
}

/**
 * Checks that a commit is on stable storage when the database says so.
 * @throws StorageUnsafe if it is not
 */
export async function checkCommitsAreSynced(sql: Sql): Promise<void> {
  const unsafe = await findUnsafeSetting(sql)
  if (unsafe?.losesCommits) throw new StorageUnsafe(unsafe.reason)
  // The relay asks for `on` when it connects. A connection pooler in between can swallow that.
  const [row] = await sql<{ setting: string }>`SELECT current_setting('synchronous_commit') AS setting`
  if (row?.setting === 'on') return
  throw new StorageUnsafe(
    `DATABASE_URL leads to a connection with synchronous_commit = ${row?.setting}, although the relay asked for on; connect it to PostgreSQL without a connection pooler`,
  )
}
