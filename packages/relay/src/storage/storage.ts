// What features know of the store: queries, transactions, and which engine runs them.

import { type Database, SQLiteError } from 'bun:sqlite'
import { SQL } from 'bun'

declare const accountId: unique symbol
/** The store's number of an account. Never leaves the relay. */
export type AccountId = number & { readonly [accountId]: true }

/** What a query may carry. Integers must be safe; bytes are for keys of the relay itself. */
export type SqlValue = string | number | null | Uint8Array

/**
 * A query as a tagged template, in SQL that SQLite and PostgreSQL both run. Integers come back as numbers.
 * The row type is what the columns named in the query are declared as in `migrations.ts`.
 */
export type Sql = <Row extends object = Record<string, never>>(
  strings: TemplateStringsArray,
  ...values: SqlValue[]
) => Promise<Row[]>

/** The store, as features see it. */
export interface Storage {
  /** For reading outside a transaction. Writes belong into one. */
  readonly sql: Sql
  /**
   * Runs `work` in one transaction and resolves once it is on stable storage. Nothing but queries may be awaited
   * inside: on SQLite every other writer waits for it.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * The same for what is worth nothing after a minute: resolves once every reader sees it, which may be before it is
   * on stable storage. A power cut can undo it.
   */
  passing<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Where the mailbox's hot path has a version for each engine: the part of it that is this engine's own. */
  readonly engine: SqliteEngine | PostgresEngine
  /** Rejects when the store does not answer. */
  ping(): Promise<void>
  /** Resolves once all that was asked for is through, however long that takes. */
  close(): Promise<void>
}

/** A prepared statement, as whoever ends it sees it. */
export interface Prepared {
  finalize(): void
}

/** SQLite inside the process. */
export interface SqliteEngine {
  readonly dialect: 'sqlite'
  /** Prepares statements on the connection that {@link SqliteEngine.commit} uses. */
  readonly database: Database
  /** Takes over what was prepared there, to finalize it when the store is closed. */
  own(statements: readonly Prepared[]): void
  /** Runs `work` synchronously in a transaction of its own, after the writers that came before it. */
  commit<T>(work: () => T): Promise<T>
}

/** PostgreSQL, shared by any number of nodes. */
export interface PostgresEngine {
  readonly dialect: 'postgres'
}

/** True where a statement broke a PRIMARY KEY or UNIQUE rule, on either engine. */
export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof SQL.PostgresError) return error.errno === '23505'
  return error instanceof SQLiteError && error.code?.startsWith('SQLITE_CONSTRAINT_') === true
}
