// Reads an embedded store and changes nothing in its folder, because it may be a copy that must stay as it
// is.
import { constants, Database } from 'bun:sqlite'
import { accessSync, existsSync, constants as modes } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DATABASE_FILE, sizeOfSqlite } from './sqlite.ts'
import type { ReadStorage, Sql, SqlValue } from './storage.ts'

/** Whether the store of a folder has a log: a relay uses it, or was killed. */
export function hasLog(folder: string): boolean {
  return existsSync(`${join(folder, DATABASE_FILE)}-wal`)
}

/**
 * Opens the store of a folder to read it; a relay may run. Without a log, SQLite is told that nobody changes
 * the file: otherwise it would make a log to read it.
 * @throws if it cannot be read, or this user cannot write it
 */
export function openSqliteToRead(folder: string): ReadStorage {
  const file = join(folder, DATABASE_FILE)
  accessSync(file, modes.R_OK | modes.W_OK)
  const url = pathToFileURL(file)
  if (!hasLog(folder)) url.searchParams.set('immutable', '1')
  const database = new Database(url.href, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  database.run('PRAGMA busy_timeout = 5000')
  const sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: SqlValue[]) => {
    using statement = database.prepare(strings.join('?'))
    return statement.all(...values) as Row[]
  }
  return {
    sql,
    engine: { dialect: 'sqlite' },
    size: () => sizeOfSqlite(file, sql),
    close: async () => database.close(true),
  }
}
