// Transactions that wait at the same time share one commit and one sync to disk. Each runs in its own
// savepoint, so that a failed one does not undo the others. Messages have their own:
// messages/group-commit.ts.
import type { Database } from 'bun:sqlite'
import type { SerialQueue } from './serial-queue.ts'
import type { Sql } from './storage.ts'

interface Waiting {
  /** Runs the work. @returns a function that resolves the caller's promise, to be called after the commit */
  readonly run: (sql: Sql) => Promise<() => void>
  readonly reject: (error: unknown) => void
}

// Bounds how long the mailbox's batches wait for one of these commits.
const MOST_IN_ONE_COMMIT = 64

export class SharedCommits {
  readonly #connection: Database
  readonly #sql: Sql
  readonly #queue: SerialQueue
  readonly #written: () => void
  #waiting: Waiting[] = []
  #isScheduled = false

  /** @param written called after each commit, and after each that failed */
  constructor(connection: { database: Database; sql: Sql }, queue: SerialQueue, written: () => void) {
    this.#connection = connection.database
    this.#sql = connection.sql
    this.#queue = queue
    this.#written = written
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = async (sql: Sql): Promise<() => void> => {
        const result = await work(sql)
        return () => resolve(result)
      }
      this.#waiting.push({ run, reject })
      this.#schedule()
    })
  }

  /** Resolves once every requested transaction has ended. */
  async idle(): Promise<void> {
    while (this.#isScheduled || this.#waiting.length > 0)
      await new Promise((resolve) => setImmediate(resolve))
    await this.#queue.run(() => undefined)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Requests that were read from the sockets in the same tick of the event loop share the commit.
    setImmediate(() => {
      void this.#queue.run(async () => {
        this.#isScheduled = false // Transactions requested from now on may need another commit.
        await this.#commit()
      })
    })
  }

  async #commit(): Promise<void> {
    const group = this.#waiting.slice(0, MOST_IN_ONE_COMMIT)
    this.#waiting = this.#waiting.slice(MOST_IN_ONE_COMMIT)
    if (this.#waiting.length > 0) this.#schedule()
    const settlers: (() => void)[] = []
    try {
      this.#connection.run('BEGIN IMMEDIATE')
      for (const each of group) settlers.push(await this.#runInSavepoint(each))
      this.#connection.run('COMMIT')
    } catch (error) {
      // A failed COMMIT may have rolled back already.
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK')
      for (const { reject } of group) reject(error)
      return
    } finally {
      this.#written()
    }
    for (const settle of settlers) settle()
  }

  async #runInSavepoint({ run, reject }: Waiting): Promise<() => void> {
    this.#connection.run('SAVEPOINT apart')
    try {
      const done = await run(this.#sql)
      this.#connection.run('RELEASE apart')
      return done
    } catch (error) {
      // A full disk may have rolled back everything.
      if (!this.#connection.inTransaction) throw error
      this.#connection.run('ROLLBACK TO apart')
      this.#connection.run('RELEASE apart')
      return () => reject(error)
    }
  }
}
