// Copies the embedded database while a relay may be using it.
import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFile } from '../media/files.ts'
import { DATABASE_FILE } from '../storage/sqlite.ts'
import { BackupError, backupStep } from './backup-error.ts'

/** What the name of a copy ends in until it is whole. */
export const UNFINISHED = '.unfinished'

/**
 * Copies the database of `dataDir` to a file that must not exist yet. The file gets its name once it is whole
 * and on stable storage; until then its name ends in `.unfinished`.
 * @param beforeNaming what else must be done before the copy gets its name; it is passed the copy
 * @throws BackupError if there is no database, or the copy cannot be written
 */
export async function copyDatabase(
  dataDir: string,
  target: string,
  beforeNaming?: (copy: string) => Promise<void>,
): Promise<void> {
  const cannotWrite = `cannot write ${target}`
  if (await backupStep(cannotWrite, () => isThere(target)))
    throw new BackupError(`${target} exists already; choose another file`)
  using database = await openDatabase(dataDir)
  const copy = `${target}.${process.pid}${UNFINISHED}`
  await backupStep(cannotWrite, async () => {
    await rm(copy, { force: true })
    await (await open(copy, 'wx', 0o600)).close() // The copy contains the keys that sign tokens.
  })
  try {
    await backupStep(cannotWrite, () => {
      using vacuum = database.prepare('VACUUM INTO ?') // Takes a file that is empty.
      vacuum.run(copy)
    })
    await beforeNaming?.(copy)
    await backupStep(cannotWrite, async () => {
      await syncFile(copy)
      await rename(copy, target)
      await syncFile(dirname(target))
    })
  } finally {
    await rm(copy, { force: true })
  }
}

/**
 * Opens the database of `dataDir` to read it.
 * @throws BackupError if there is none, or it cannot be read
 */
export function openDatabase(dataDir: string): Promise<Database> {
  return openDatabaseFile(join(dataDir, DATABASE_FILE), `${dataDir} holds no store of a relay`)
}

/**
 * Opens the database of a relay to read it.
 * @param otherwise what the operator is told if it is not one
 * @throws BackupError if it is not one, or cannot be read
 */
export function openDatabaseFile(file: string, otherwise: string): Promise<Database> {
  return backupStep(`cannot read ${file}`, () => {
    if (!isThere(file)) throw new BackupError(otherwise)
    const database = new Database(file, { readonly: true })
    try {
      database.run('PRAGMA busy_timeout = 5000')
      using tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'")
      if (!tables.get()) throw new BackupError(otherwise)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/** Whether something has this path. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
