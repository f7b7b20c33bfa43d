// Runs work on an IndexedDB database in order, with as many pieces per transaction as arrive in time.
import { ClientError } from '../client-error.ts'

/** The maximum of writes per transaction: the first of them waits for the last. */
const MAX_WRITES = 256

/** Work within a transaction. It may wait only for requests of that transaction. */
export type Work<T> = (transaction: IDBTransaction) => Promise<T>

/** A transaction and the work in it. A transaction that becomes idle is closed by the browser. */
interface Batch {
  readonly transaction: IDBTransaction
  readonly isWriting: boolean
  writes: number
  /** Resolves once everything in it is durable. */
  readonly durable: Promise<void>
}

interface Task {
  readonly isWriting: boolean
  /** Never throws. */
  run(): Promise<void>
  reject(error: ClientError): void
}

/**
 * Runs work in the order of the calls. Work that follows a write while its transaction is open joins that
 * transaction. So a burst of messages, each looked up and then written, is synced to the disk once. After a
 * failed write, later writes are refused.
 */
export class WorkQueue {
  readonly #database: IDBDatabase
  readonly #tables: readonly string[]
  readonly #tasks: Task[] = []
  readonly #writing = new Set<Batch>()
  #isWorking = false
  #worked: Promise<void> = Promise.resolve()
  #batch: Batch | undefined
  /** Resolves once every earlier write is durable. */
  #durable: Promise<void> = Promise.resolve()
  #failure: ClientError | undefined
  #end: ClientError | undefined

  constructor(database: IDBDatabase) {
    this.#database = database
    this.#tables = [...database.objectStoreNames]
  }

  /** Resolves with the result of `work`, which runs after every earlier write. */
  read<T>(work: Work<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#add({
        isWriting: false,
        run: async () => {
          try {
            resolve((await this.#run(work, false)).result)
          } catch (error) {
            reject(storeFailure(error))
          }
        },
        reject,
      })
    })
  }

  /**
   * Resolves once everything that `work` writes, and everything before it, is durable. `work` may be left
   * out.
   */
  write(work?: Work<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add({
        isWriting: true,
        run: async () => {
          try {
            if (work) await this.#write(work)
            this.#durable.then(resolve, reject)
          } catch (error) {
            reject(this.#fail(error))
          }
        },
        reject,
      })
    })
  }

  /** Refuses new work with this error. Resolves once the accepted work has settled. */
  async end(reason: ClientError): Promise<void> {
    this.#end ??= reason
    await this.#worked
    await this.#durable.catch(() => {})
  }

  /** Refuses also the waiting work. Work that has begun is finished. */
  abandon(reason: ClientError): void {
    this.#end ??= reason
    this.#failure ??= reason
    for (const task of this.#tasks.splice(0)) task.reject(reason)
  }

  #add(task: Task): void {
    if (this.#end) {
      task.reject(this.#end)
      return
    }
    this.#tasks.push(task)
    if (!this.#isWorking) this.#worked = this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
      if (task.isWriting && this.#failure) task.reject(this.#failure)
      else await task.run()
    }
    this.#isWorking = false
  }

  async #write(work: Work<void>): Promise<void> {
    const { batch } = await this.#run(work, true)
    batch.writes += 1
    if (batch.writes >= MAX_WRITES) this.#batch = undefined
  }

  async #run<T>(work: Work<T>, isWriting: boolean): Promise<{ result: T; batch: Batch }> {
    const alive = this.#batch
    if (alive && (alive.isWriting || !isWriting)) {
      try {
        return { result: await work(alive.transaction), batch: alive }
      } catch (error) {
        // The transaction was closed before the work's first request. A pending request would have kept it
        // open.
        if (!isClosedTransaction(error)) throw error
      }
    }
    const batch = this.#begin(isWriting)
    return { result: await work(batch.transaction), batch }
  }

  #begin(isWriting: boolean): Batch {
    if (isWriting && this.#failure) throw this.#failure
    // A transaction over every table: if two transactions share a table, the earlier is durable before the
    // later begins.
    const transaction = this.#database.transaction(
      this.#tables,
      isWriting ? 'readwrite' : 'readonly',
      // Otherwise a browser reports success before the data is on the disk.
      { durability: 'strict' },
    )
    const durable = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(this.#fail(transaction.error))
    })
    const batch: Batch = { transaction, isWriting, writes: 0, durable }
    this.#batch = batch
    if (isWriting) {
      this.#writing.add(batch)
      this.#durable = durable
    }
    durable
      // The writers that wait for it get the error. Nobody waits for a transaction that only read.
      .catch(() => {})
      .finally(() => {
        this.#writing.delete(batch)
        if (this.#batch === batch) this.#batch = undefined
      })
    return batch
  }

  /**
   * After a failed write nothing may become durable: aborts the open transactions and refuses later writes.
   */
  #fail(error: unknown): ClientError {
    if (!this.#failure) {
      this.#failure = storeFailure(error)
      for (const { transaction } of this.#writing) abort(transaction)
    }
    return this.#failure
  }
}

/** Converts an error of IndexedDB to a ClientError. */
export function storeFailure(error: unknown): ClientError {
  if (error instanceof ClientError) return error
  const name = error instanceof Error ? error.name : ''
  if (name === 'QuotaExceededError') {
    return new ClientError('STORE_FAILED', 'the browser’s storage quota for this site is full', {
      cause: error,
    })
  }
  const message = error instanceof Error && error.message !== '' ? error.message : name || 'no reason given'
  return new ClientError('STORE_FAILED', `the browser’s database failed: ${message}`, { cause: error })
}

function isClosedTransaction(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === 'TransactionInactiveError' || error.name === 'InvalidStateError')
  )
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch (error) {
    // The transaction has already ended.
    if (!isClosedTransaction(error)) throw error
  }
}
