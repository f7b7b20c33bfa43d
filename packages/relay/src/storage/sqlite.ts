// The store on SQLite in DATA_DIR: write-ahead log, synchronous=FULL, one writer at a time.
import { Database, SQLiteError, type Statement } from 'bun:sqlite'
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Checkpoints } from './checkpoints.ts'
import { migrate, type Purpose } from './migrate.ts'
import { SerialQueue } from './serial-queue.ts'
import { SharedCommits } from './shared-commit.ts'
import type { DatabaseSize, Prepared, Sql, SqlValue, Storage } from './storage.ts'

/** The name of the database in its folder. */
export const DATABASE_FILE = 'sotto.db'

/** The folder contains no store. */
export class StorageMissing extends Error {
  override readonly name = 'StorageMissing'
}

/** Another process uses the folder. */
export class StorageInUse extends Error {
  override readonly name = 'StorageInUse'
}

/**
 * Opens the store in `folder`, creates the folder if needed, and brings the schema up to date.
 * @throws StorageInUse when another relay has it open, and StoreCopied if its accounts live elsewhere
 */
export async function openSqlite(folder: string, purpose: Purpose = 'work'): Promise<Storage> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = lockFolder(folder)
  const storage = openFile(join(folder, DATABASE_FILE), { release: () => lock.close() })
  try {
    await migrate(storage, purpose)
  } catch (error) {
    await storage.close()
    throw error
  }
  return storage
}

/**
 * Opens the store for an operator's command, while a relay may be using it: without a lock and without
 * migrations.
 * @throws StorageMissing if the folder contains no store
 */
export async function openSqliteBeside(folder: string): Promise<Storage> {
  const file = join(folder, DATABASE_FILE)
  if (!existsSync(file)) throw new StorageMissing(`${folder} holds no store of a relay`)
  return openFile(file)
}

/** Passed by a relay, which has the folder to itself until it releases the lock. */
interface Owner {
  release(): void
}

function openFile(file: string, owner?: Owner): Storage {
  const writer = new Connection(file)
  if (owner) {
    for (const pragma of OWNER_PRAGMAS) writer.database.run(pragma)
    chmodSync(file, 0o600)
  }
  // Readers use a separate connection, so that they see no transaction before it is committed.
  const reader = new Connection(file)
  reader.database.run('PRAGMA query_only = ON')

  // A third connection writes what may be lost: with a write-ahead log, NORMAL does not sync at a commit. The
  // writer's setting is never changed, so that no mistake can leave it at less than FULL.
  const unsynced = new Connection(file)
  unsynced.database.run('PRAGMA synchronous = NORMAL')
  if (owner) unsynced.database.run(RARE_CHECKPOINTS)

  const queue = new SerialQueue()
  const checkpoints = owner && new Checkpoints(file, queue)
  const written = (): void => checkpoints?.written()
  const commits = new SharedCommits(writer, queue, written)
  const unsyncedCommits = new SharedCommits(unsynced, queue, written)
  const { database } = writer
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  writer.finalizeOnClose([begin, commit])
  return {
    sql: reader.sql,
    transaction: (work) => commits.transaction(work),
    unsyncedTransaction: (work) => unsyncedCommits.transaction(work),
    engine: {
      dialect: 'sqlite',
      database,
      startCheckpoints: async () => checkpoints?.start(),
      finalizeOnClose: (statements) => writer.finalizeOnClose(statements),
      commit: (work) =>
        queue.run(() => {
          begin.run()
          try {
            const result = work()
            commit.run()
            return result
          } catch (error) {
            // A failed COMMIT may have rolled back already.
            if (database.inTransaction) database.run('ROLLBACK')
            throw error
          } finally {
            written()
          }
        }),
    },
    size: () => sizeOfSqlite(file, reader.sql),
    ping: async () => {
      await reader.sql`SELECT 1 FROM relay_state LIMIT 1`
    },
    close: async () => {
      await commits.idle()
      await unsyncedCommits.idle()
      await checkpoints?.end()
      reader.close()
      unsynced.close()
      writer.close()
      owner?.release()
    },
  }
}

/** How many bytes the files of a database take, and how many of them new rows can use. */
export async function sizeOfSqlite(file: string, sql: Sql): Promise<DatabaseSize> {
  const [pages] = await sql<{ free: number; size: number }>`
    SELECT freelist_count AS free, page_size AS size FROM pragma_freelist_count, pragma_page_size`
  const files = [file, `${file}-wal`, `${file}-shm`].map((path) => statSync(path, { throwIfNoEntry: false }))
  return {
    bytes: files.reduce((sum, found) => sum + (found?.size ?? 0), 0),
    reusableBytes: (pages?.free ?? 0) * (pages?.size ?? 0),
  }
}

const PRAGMAS = [
  'PRAGMA busy_timeout = 5000',
  'PRAGMA journal_mode = WAL',
  // An acknowledged message must survive a power cut, not only a crash (protocol, Delivery 1).
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  // Overwrites what is deleted, in pages that stay in use and in free pages. FAST would leave the free ones.
  'PRAGMA secure_delete = ON',
]

// Usually the thread of checkpoints.ts checkpoints long before this limit. It applies only if the thread
// cannot.
const RARE_CHECKPOINTS = 'PRAGMA wal_autocheckpoint = 65536'

const OWNER_PRAGMAS = [
  RARE_CHECKPOINTS,
  // In a large store, the pages that 50 busy conversations use do not fit into SQLite's default of 2 MiB.
  'PRAGMA cache_size = -65536',
]

// A connection that prepares each statement once. Every query in the code has its own template object, which
// is the key of its statement.
class Connection {
  readonly database: Database
  readonly #statements = new Map<TemplateStringsArray, Statement>()
  readonly #toFinalize: Prepared[] = []
  #isClosed = false

  constructor(file: string) {
    this.database = new Database(file)
    for (const pragma of PRAGMAS) this.database.run(pragma)
  }

  readonly sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: SqlValue[]) => {
    if (this.#isClosed) throw new Error('the store is closed')
    return this.#statementOf(strings).all(...values) as Row[]
  }

  /** Registers statements that were prepared elsewhere, to finalize them in `close`. */
  finalizeOnClose(statements: readonly Prepared[]): void {
    this.#toFinalize.push(...statements)
  }

  /** Finalizes all statements. An open statement would keep the file open and its log from restarting. */
  close(): void {
    this.#isClosed = true
    for (const statement of [...this.#statements.values(), ...this.#toFinalize]) statement.finalize()
    this.database.close(true)
  }

  #statementOf(strings: TemplateStringsArray): Statement {
    let statement = this.#statements.get(strings)
    if (!statement) {
      statement = this.database.prepare(strings.join('?'))
      this.#statements.set(strings, statement)
    }
    return statement
  }
}

/**
 * Locks a folder, until the result is closed. The operating system releases the lock when the process ends,
 * also after a crash.
 * @param holder what else may hold the lock
 * @throws StorageInUse if somebody has it
 */
export function lockFolder(folder: string, holder = 'relay'): Database {
  const file = join(folder, 'lock.db')
  // Root may call it on the folder of another user, who could have put a link to a file of root's there.
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new StorageInUse(`${file} is a link; remove it`)
  const lock = new Database(file)
  chmodSync(file, 0o600)
  try {
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (!(error instanceof SQLiteError) || !error.code?.startsWith('SQLITE_BUSY')) throw error
    throw new StorageInUse(`${folder} is in use by another ${holder}`)
  }
}
