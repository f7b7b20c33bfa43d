// The store on PostgreSQL (DATABASE_URL): a pool of connections to a database that any number of nodes share.
import { SQL } from 'bun'
import { migrate } from './migrate.ts'
import { PostgresConnections } from './postgres-connections.ts'
import { checkCommitsAreSynced, findUnsafeSetting } from './postgres-settings.ts'
import type { Sql, Storage } from './storage.ts'

/**
 * Opens the store at `url` (`postgres://…`) and brings its schema up to date.
 * @throws StorageUnsafe if the server would confirm a commit before it is on stable storage, and StoreCopied
 * if it has half a copy
 */
export async function openPostgres(url: string, options: { connections: number }): Promise<Storage> {
  const connections = new PostgresConnections(url, options)
  const storage = storageOn(connections)
  try {
    await checkCommitsAreSynced(storage.sql)
    await migrate(storage)
    connections.watch()
  } catch (error) {
    await storage.close()
    throw error
  }
  return storage
}

/** Opens the store at `url` as it is: without checks and without migrations. */
export function openPostgresBeside(url: string, options: { connections: number }): Storage {
  return storageOn(new PostgresConnections(url, options))
}

function storageOn(connections: PostgresConnections): Storage {
  const begin = <T>(
    kind: 'transaction' | 'messages',
    work: (sql: Sql) => Promise<T>,
    isSynced = true,
  ): Promise<T> =>
    withRetries(() =>
      connections.run(kind, (pool, heard) =>
        pool.begin(async (connection) => {
          heard()
          if (!isSynced) await connection`SET LOCAL synchronous_commit TO OFF`
          return await work(tagOf(connection, heard))
        }),
      ),
    )
  const storage: Storage = {
    sql: (strings, ...values) =>
      withRetries(() => connections.run('read', (pool) => tagOf(pool)(strings, ...values))),
    transaction: (work) => begin('transaction', work),
    unsyncedTransaction: (work) => begin('transaction', work, false),
    engine: {
      dialect: 'postgres',
      commitMessages: (work) => begin('messages', work),
      follow: (follower) => {
        connections.follower = follower
      },
      findUnsafeSetting: () => findUnsafeSetting(storage.sql),
    },
    size: async () => {
      const [row] = await storage.sql<{ bytes: number }>`SELECT pg_database_size(current_database()) AS bytes`
      return { bytes: row?.bytes ?? 0, reusableBytes: 0 }
    },
    ping: async () => {
      await storage.sql`SELECT 1`
    },
    close: () => connections.close(),
  }
  return storage
}

/** @param heard called whenever the database has answered */
function tagOf(connection: SQL, heard: () => void = () => undefined): Sql {
  return async <Row extends object>(strings: TemplateStringsArray, ...values: Parameters<Sql>[1][]) => {
    const rows: Row[] = await connection(strings, ...values)
    heard()
    for (const row of rows) numbersFromBigInts(row)
    return rows
  }
}

function numbersFromBigInts(row: object): void {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'bigint') Object.assign(row, { [column]: Number(value) })
  }
}

// Runs a query or a transaction again if it lost a conflict with another one. That is safe, because nothing
// of it was done, and a transaction only queries. One that only reads can lose, too: to a migration.
async function withRetries<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      const lost =
        error instanceof SQL.PostgresError &&
        (error.errno === SERIALIZATION_FAILURE || error.errno === DEADLOCK)
      if (!lost || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const MOST_ATTEMPTS = 5
