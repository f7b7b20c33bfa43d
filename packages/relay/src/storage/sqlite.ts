// SQLite in DATA_DIR: write-ahead log, synchronous=FULL, one writer at a time.
import { Database, type Statement } from 'bun:sqlite'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Checkpoints } from './checkpoints.ts'
import { migrate } from './migrate.ts'
import { SharedCommits } from './shared-commit.ts'
import type { Prepared, Sql, SqlValue, Storage } from './storage.ts'
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
  const storage = openFile(join(folder, DATABASE_FILE), { release: () => lock.close() })
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
  return openFile(file)
}

/** Who has the folder to itself, and lets go of it in the end. */
interface Owner {
  release(): void
}

function openFile(file: string, owner?: Owner): Storage {
  const writer = new Connection(file)
  if (owner) for (const pragma of OWNERS_PRAGMAS) writer.database.run(pragma)
  chmodSync(file, 0o600)
  // A connection of its own for readers, so that none of them sees a transaction that is not committed yet.
  const reader = new Connection(file)
  reader.database.run('PRAGMA query_only = ON')

  // And one for what may be lost: with a write-ahead log, NORMAL does not sync at a commit. The writer's own setting is
  // never touched, so that nothing can leave it at less than FULL.
  const hasty = new Connection(file)
  hasty.database.run('PRAGMA synchronous = NORMAL')
  if (owner) hasty.database.run(RARE_CHECKPOINTS)

  const turns = new Turns()
  const checkpoints = owner && new Checkpoints(file, turns)
  const commits = new SharedCommits(writer.database, writer.sql, turns)
  const passing = new SharedCommits(hasty.database, hasty.sql, turns)
  const { database } = writer
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  writer.own([begin, commit])
  return {
    sql: reader.sql,
    transaction: (work) => {
      checkpoints?.written()
      return commits.transaction(work)
    },
    passing: (work) => {
      checkpoints?.written()
      return passing.transaction(work)
    },
    engine: {
      dialect: 'sqlite',
      database,
      own: (statements) => writer.own(statements),
      commit: (work) =>
        turns.take(() => {
          checkpoints?.written()
          begin.run()
          try {
            const result = work()
            commit.run()
            return result
          } catch (error) {
            if (database.inTransaction) database.run('ROLLBACK') // A failed COMMIT may have rolled back already.
            throw error
          }
        }),
    },
    ping: async () => {
      await reader.sql`SELECT 1 FROM relay_state LIMIT 1`
    },
    close: async () => {
      await commits.idle()
      await passing.idle()
      await checkpoints?.end()
      reader.close()
      hasty.close()
      writer.close()
      owner?.release()
    },
  }
}

const PRAGMAS = [
  'PRAGMA busy_timeout = 5000',
  'PRAGMA journal_mode = WAL',
  // An acknowledged message must survive a power cut, not only a crash (protocol, Delivery 1).
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
]

// The thread of checkpoints.ts does it, long before: this is for the day it cannot.
const RARE_CHECKPOINTS = 'PRAGMA wal_autocheckpoint = 65536'

const OWNERS_PRAGMAS = [
  RARE_CHECKPOINTS,
  // In a large store, what 50 busy conversations touch does not fit into the 2 MiB that are usual.
  'PRAGMA cache_size = -65536',
]

// A connection whose statements are prepared once: every place in the code that queries has a template of its own,
// which is what its statement is remembered by.
class Connection {
  readonly database: Database
  readonly #statements = new Map<TemplateStringsArray, Statement>()
  readonly #owned: Prepared[] = []
  #isClosed = false

  constructor(file: string) {
    this.database = new Database(file)
    for (const pragma of PRAGMAS) this.database.run(pragma)
  }

  readonly sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: SqlValue[]) => {
    if (this.#isClosed) throw new Error('the store is closed')
    return this.#statementOf(strings).all(...values) as Row[]
  }

  /** Takes statements over that were prepared elsewhere. */
  own(statements: readonly Prepared[]): void {
    this.#owned.push(...statements)
  }

  /** A statement that were left would keep the file open, and its log from ever beginning anew. */
  close(): void {
    this.#isClosed = true
    for (const statement of [...this.#statements.values(), ...this.#owned]) statement.finalize()
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
