// Transactions that wait at the same time share one commit, and with it one sync: each in a savepoint of its own, so
// that one which fails leaves the others alone.
import type { Database } from 'bun:sqlite'
import type { Sql } from './storage.ts'
import type { Turns } from './turns.ts'

interface Waiting {
  /** Runs the work; what it returns tells whoever waits, once the commit is through. */
  readonly run: (sql: Sql) => Promise<() => void>
  readonly reject: (error: unknown) => void
}

// Bounds how long the mailbox's own commits wait for these.
const MOST_IN_ONE_COMMIT = 64

export class SharedCommits {
  readonly #connection: Database
  readonly #sql: Sql
  readonly #turns: Turns
  #waiting: Waiting[] = []
  #isComing = false

  constructor(connection: Database, sql: Sql, turns: Turns) {
    this.#connection = connection
    this.#sql = sql
    this.#turns = turns
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = async (sql: Sql): Promise<() => void> => {
        const result = await work(sql)
        return () => resolve(result)
      }
      this.#waiting.push({ run, reject })
      this.#come()
    })
  }

  /** Resolves once all that was asked for is through. */
  async idle(): Promise<void> {
    while (this.#isComing || this.#waiting.length > 0) await new Promise((resolve) => setImmediate(resolve))
    await this.#turns.take(() => undefined)
  }

  #come(): void {
    if (this.#isComing) return
    this.#isComing = true
    // Requests that were read from the sockets in this turn of the event loop share the commit.
    setImmediate(() => {
      void this.#turns.take(async () => {
        this.#isComing = false // Whoever comes from here on waits for the next turn.
        await this.#commit()
      })
    })
  }

  async #commit(): Promise<void> {
    const group = this.#waiting.slice(0, MOST_IN_ONE_COMMIT)
    this.#waiting = this.#waiting.slice(MOST_IN_ONE_COMMIT)
    if (this.#waiting.length > 0) this.#come()
    const tell: (() => void)[] = []
    try {
      this.#connection.run('BEGIN IMMEDIATE')
      for (const each of group) tell.push(await this.#runApart(each))
      this.#connection.run('COMMIT')
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK') // A failed COMMIT may have done so.
      for (const { reject } of group) reject(error)
      return
    }
    for (const each of tell) each()
  }

  async #runApart({ run, reject }: Waiting): Promise<() => void> {
    this.#connection.run('SAVEPOINT apart')
    try {
      const done = await run(this.#sql)
      this.#connection.run('RELEASE apart')
      return done
    } catch (error) {
      this.#connection.run('ROLLBACK TO apart')
      this.#connection.run('RELEASE apart')
      return () => reject(error)
    }
  }
}
