// The store's interface for features: queries, transactions, and the engine that runs them.

import { type Database, SQLiteError } from 'bun:sqlite'
import { SQL } from 'bun'
import type { SqlValue } from './sql-parts.ts'

export { isDatabaseAway } from './database-errors.ts'
export { integers, texts } from './postgres-arrays.ts'
export { list, part, query, type SqlPart, type SqlValue } from './sql-parts.ts'

declare const accountId: unique symbol
/** The number of an account in the store. It is never sent to clients. */
export type AccountId = number & { readonly [accountId]: true }

/**
 * A query as a tagged template, in SQL that both SQLite and PostgreSQL run. Integers are returned as numbers.
 * The row type must match how `migrations/` declares the columns that the query returns.
 */
export type Sql = <Row extends object = Record<string, never>>(
  strings: TemplateStringsArray,
  ...values: SqlValue[]
) => Promise<Row[]>

export interface Storage {
  /** For reads outside a transaction. Writes belong in a transaction. */
  readonly sql: Sql
  /**
   * Runs `work` in one transaction and resolves once it is on stable storage. `work` may await only queries,
   * because on SQLite every other writer waits for it.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * A transaction for data that is worthless after a minute. Resolves once every reader sees it, which may be
   * before it is on stable storage. A power cut can undo it.
   */
  unsyncedTransaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** The engine, for the batch stores of the mailbox, which have a version for each engine. */
  readonly engine: SqliteEngine | PostgresEngine
  /** How many bytes the database takes, and how many of them new rows can use without more space. */
  size(): Promise<DatabaseSize>
  /** Rejects when the store does not answer. */
  ping(): Promise<void>
  /** Closes the store after all requested work has ended, no matter how long that takes. */
  close(): Promise<void>
}

/** A store that is only read. */
export interface ReadStorage extends Pick<Storage, 'sql' | 'size' | 'close'> {
  readonly engine: Pick<SqliteEngine, 'dialect'> | PostgresEngine
}

/** See {@link Storage.size}. */
export interface DatabaseSize {
  readonly bytes: number
  readonly reusableBytes: number
}

/** A prepared statement. */
export interface Prepared {
  finalize(): void
}

/** SQLite inside the process. */
export interface SqliteEngine {
  readonly dialect: 'sqlite'
  /** Prepares statements on the connection that {@link SqliteEngine.commit} uses. */
  readonly database: Database
  /** Starts the thread that checkpoints, which otherwise starts when it is first needed. */
  startCheckpoints(): Promise<void>
  /** Registers statements prepared on that connection, to finalize them when the store closes. */
  finalizeOnClose(statements: readonly Prepared[]): void
  /** Runs `work` synchronously in a separate transaction, after the writers that were requested earlier. */
  commit<T>(work: () => T): Promise<T>
}

/** PostgreSQL, shared by any number of nodes. */
export interface PostgresEngine {
  readonly dialect: 'postgres'
  /** A transaction that waits for no other work of this node: it has a connection of its own. */
  commitMessages<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Tells from now on whether the database can be used. */
  follow(follower: DatabaseFollower): void
  /** Reads the server's settings. @returns the worst wrong one; undefined if there is none */
  findUnsafeSetting(): Promise<UnsafeSetting | undefined>
}

/** What learns whether PostgreSQL can be used. */
export interface DatabaseFollower {
  /** It does not answer, or takes no writes. Until `back`, all work is refused. */
  away(reason: string): void
  back(): void
  /** It answers, but some work was refused. */
  refused(reason: string): void
}

/** A setting of a PostgreSQL server that can lose what was committed. */
export interface UnsafeSetting {
  readonly state: 'fsync_off' | 'full_page_writes_off'
  /** Whether a power cut loses commits, on any file system. */
  readonly losesCommits: boolean
  /** What it loses and what to do, for the operator. */
  readonly reason: string
}

/**
 * Whether a write failed because the disk is full, on any engine. The write had no effect. SQLite says
 * SHMSIZE if it has no space for the index of its log.
 */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof SQL.PostgresError) return error.errno === '53100'
  return (
    error instanceof SQLiteError && (error.code === 'SQLITE_FULL' || error.code === 'SQLITE_IOERR_SHMSIZE')
  )
}

/** The same store. It calls `onFull` whenever a write of a transaction fails because the disk is full. */
export function reportingFull(storage: Storage, onFull: () => void): Storage {
  const reported = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (isDiskFull(error)) onFull()
      throw error
    }
  }
  return {
    ...storage,
    transaction: (work) => reported(storage.transaction(work)),
    unsyncedTransaction: (work) => reported(storage.unsyncedTransaction(work)),
  }
}

/** Whether a statement violated a PRIMARY KEY or UNIQUE rule, on any engine. */
export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof SQL.PostgresError) return error.errno === '23505'
  return error instanceof SQLiteError && error.code?.startsWith('SQLITE_CONSTRAINT_') === true
}
