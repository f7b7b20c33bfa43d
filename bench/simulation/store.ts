// The store of a simulation: the relay's own SQL and migrations on one SQLite in memory, which all nodes
// share. A query or a transaction is one step of the database, and its answer is a later step of the node. So
// whole transactions follow one another: what happens between the statements of two transactions of
// PostgreSQL, and its locks of rows, cannot be seen here.

import { drainMicrotasks } from 'bun:jsc'
import { Database, type Statement } from 'bun:sqlite'
import { migrate } from '../../packages/relay/src/storage/migrate.ts'
import type { Sql, SqlValue, Storage } from '../../packages/relay/src/storage/storage.ts'
import type { Owner, Schedule } from './schedule.ts'
import type { Weather } from './weather.ts'

/** A database whose statements are prepared once, for all nodes and all seeds. */
class SharedDatabase extends Database {
  readonly #byTemplate = new Map<TemplateStringsArray, Statement>()

  // Bun keeps the statements of `query` by their text.
  override prepare: Database['prepare'] = (text: string) => this.query(text)

  readonly sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: SqlValue[]) => {
    let statement = this.#byTemplate.get(strings)
    if (!statement) {
      statement = this.query(strings.join('?'))
      this.#byTemplate.set(strings, statement)
    }
    return statement.all(...values) as Row[]
  }
}

/** Every run of this process begins with the same rows. */
export class SimulatedDatabase {
  readonly database = new SharedDatabase(':memory:')
  /** What happens in the database. It never sleeps. */
  owner: Owner = { name: 'database', isDead: false, asleepUntil: 0 }

  constructor() {
    this.database.run('PRAGMA foreign_keys = ON')
  }

  /** The storage as the preparation of runs uses it: without steps. */
  get storage(): Storage {
    return storageOf(this, async (work) => work())
  }

  async prepare(fill: (storage: Storage) => Promise<void>): Promise<void> {
    await migrate(this.storage)
    await fill(this.storage)
  }

  /** Begins a run. What it changes is undone when it ends. */
  begin(): void {
    this.owner = { name: 'database', isDead: false, asleepUntil: 0 }
    this.database.run('SAVEPOINT run')
  }

  end(): void {
    this.database.run('ROLLBACK TO run')
    this.database.run('RELEASE run')
  }

  /** Runs work that awaits only queries of `sql`, all at once, as one transaction. */
  atOnce<T>(work: (sql: Sql) => Promise<T>): T {
    return this.#transaction(() => {
      let outcome: { result: T } | { error: unknown } | undefined
      work(this.database.sql).then(
        (result) => {
          outcome = { result }
        },
        (error) => {
          outcome = { error }
        },
      )
      drainMicrotasks()
      if (!outcome) throw new Error('a transaction awaits something else than its queries')
      if ('error' in outcome) throw outcome.error
      return outcome.result
    })
  }

  commit<T>(work: () => T): T {
    return this.#transaction(work)
  }

  #transaction<T>(work: () => T): T {
    const { database } = this
    database.run('SAVEPOINT work')
    try {
      const result = work()
      database.run('RELEASE work')
      return result
    } catch (error) {
      database.run('ROLLBACK TO work')
      database.run('RELEASE work')
      throw error
    }
  }
}

/** How the database answers at the moment. */
export type StoreFate = 'done' | 'refused' | 'unknown'

/** The node's connection to the database ended, before or after it did what was asked. */
class StoreAway extends Error {
  override readonly name = 'StoreAway'
}

/** The storage of a node. Each request takes its time, and may fail. */
export function nodeStorage(
  shared: SimulatedDatabase,
  parts: {
    readonly node: Owner
    readonly schedule: Schedule
    readonly weather: Weather
    readonly fate: () => StoreFate
  },
): Storage {
  const { node, schedule, weather, fate } = parts
  const ask: Ask = (work, what) =>
    new Promise((resolve, reject) => {
      const execute = (): void => {
        const fated = fate()
        let settle: () => void
        try {
          if (fated === 'refused') throw new StoreAway('the database is away')
          const result = work()
          settle = () => resolve(result)
          if (fated === 'unknown') throw new StoreAway('the database went away before it answered')
        } catch (error) {
          settle = () => reject(error)
        }
        schedule.after(weather.waitMs('answer'), node, `answer of a ${what} (${fated})`, settle)
      }
      schedule.after(weather.waitMs('store'), shared.owner, `${what} of ${node.name}`, execute)
    })
  return storageOf(shared, ask)
}

type Ask = <T>(work: () => T, what: string) => Promise<T>

function storageOf(shared: SimulatedDatabase, ask: Ask): Storage {
  const { database } = shared
  const transaction: Storage['transaction'] = (work) => ask(() => shared.atOnce(work), 'transaction')
  return {
    sql: (strings, ...values) => ask(() => shared.atOnce((sql) => sql(strings, ...values)), 'query') as never,
    transaction,
    unsyncedTransaction: transaction,
    engine: {
      dialect: 'sqlite',
      database,
      startCheckpoints: async () => undefined,
      finalizeOnClose: () => undefined,
      commit: (work) => ask(() => shared.commit(work), 'commit'),
    },
    size: async () => ({ bytes: 0, reusableBytes: 0 }),
    ping: async () => undefined,
    close: async () => undefined,
  }
}
