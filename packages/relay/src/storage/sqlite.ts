// SQLite in DATA_DIR: write-ahead log, synchronous=FULL, one writer at a time.

import { Database } from 'bun:sqlite'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { migrate } from './migrate.ts'
import { SharedCommits } from './shared-commit.ts'
import type { Sql, Storage } from './storage.ts'
import { Turns } from './turns.ts'

const DATABASE_FILE = 'sotto.db'

/** There is no store where one was expected. */
export class StorageMissing extends Error {
  override readonly name = 'StorageMissing'
}

/** Another process holds the folder. */
export class StorageInUse extends Error {
  override readonly name = 'StorageInUse'
}

/**
 * Opens the store in `folder`, which it makes if needed, and brings its schema up to date.
 * @throws StorageInUse when another relay has it open.
 */
export async function openSqlite(folder: string): Promise<Storage> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = lockFolder(folder)
  const storage = await openFile(join(folder, DATABASE_FILE), () => lock.close())
  try {
    await migrate(storage)
  } catch (error) {
    await storage.close()
    throw error
  }
  return storage
}

/**
 * Opens the store beside the relay that may be using it, for an operator's command: as it is, without a lock.
 * @throws StorageMissing where there is none
 */
export async function openSqliteBeside(folder: string): Promise<Storage> {
  const file = join(folder, DATABASE_FILE)
  if (!existsSync(file)) throw new StorageMissing(`${folder} holds no store of a relay`)
  return await openFile(file, () => undefined)
}

async function openFile(file: string, release: () => void): Promise<Storage> {
  const writer = new SQL({ adapter: 'sqlite', filename: file })
  await configure(writer)
  chmodSync(file, 0o600)
  // A connection of its own for readers, so that none of them sees a transaction that is not committed yet.
  const reader = new SQL({ adapter: 'sqlite', filename: file })
  await configure(reader)
  await reader`PRAGMA query_only = ON`
  const database = new Database(file)
  for (const pragma of PRAGMAS) database.run(pragma)

  const turns = new Turns()
  const commits = new SharedCommits(writer, tagOf(writer), turns)
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const storage: Storage = {
    sql: tagOf(reader),
    transaction: (work) => commits.transaction(work),
    engine: {
      dialect: 'sqlite',
      database,
      commit: (work) =>
        turns.take(() => {
          begin.run()
          try {
            const result = work()
            commit.run()
            return result
          } catch (error) {
            if (database.inTransaction) database.run('ROLLBACK')
            throw error
          }
        }),
    },
    ping: async () => {
      await reader`SELECT 1 FROM relay_state LIMIT 1`
    },
    close: async () => {
      await commits.idle()
      await reader.close()
      await writer.close()
      database.close()
      release()
    },
  }
  return storage
}

const PRAGMAS = [
  'PRAGMA busy_timeout = 5000',
  'PRAGMA journal_mode = WAL',
  // An acknowledged message must survive a power cut, not only a crash (protocol, Delivery 1).
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
]

async function configure(connection: SQL): Promise<void> {
  for (const pragma of PRAGMAS) await connection.unsafe(pragma)
}

// Bun's tag is wider than ours; the values and rows that pass through it are the same.
function tagOf(connection: SQL): Sql {
  return async (strings, ...values) => [...(await connection(strings, ...values))]
}

// The operating system releases this lock when the process ends, however it ends.
function lockFolder(folder: string): Database {
  const file = join(folder, 'lock.db')
  const lock = new Database(file)
  chmodSync(file, 0o600)
  try {
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch {
    lock.close()
    throw new StorageInUse(`${folder} is in use by another relay`)
  }
}
