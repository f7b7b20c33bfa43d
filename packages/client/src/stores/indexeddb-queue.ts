// The order of work on an IndexedDB database: one piece after another, as many to a transaction as come in time.
import { ClientError } from '../client-error.ts'

/** A transaction takes this many writes at most: the first of them waits for the last. */
const MAX_WRITES = 256

/** Work within a transaction. May wait for the transaction's requests, and for nothing else. */
export type Work<T> = (transaction: IDBTransaction) => Promise<T>

/** A transaction, and whether it still takes work. Work that comes when it has gone idle finds it closed. */
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
 * Runs work in the order it comes. What follows a write while its transaction is alive goes into the same transaction, so
 * that a burst of messages, each looked up and then written, is synced to the disk once. After a write that failed none is
 * taken on.
 */
export class WorkQueue {
  readonly #database: IDBDatabase
  readonly #tables: readonly string[]
  readonly #tasks: Task[] = []
  readonly #writing = new Set<Batch>()
  #isWorking = false
  #worked: Promise<void> = Promise.resolve()
  #batch: Batch | undefined
  /** Resolves once every write so far is durable. */
  #durable: Promise<void> = Promise.resolve()
  #failure: ClientError | undefined
  #end: ClientError | undefined

  constructor(database: IDBDatabase) {
    this.#database = database
    this.#tables = [...database.objectStoreNames]
  }

  /** Resolves with what `work` finds, after all that was written earlier. */
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

  /** Resolves once what `work` writes, and everything before it, is durable. Without work: once that is so. */
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

  /** Takes no more work, for this reason; resolves once what was taken has settled. */
  async end(reason: ClientError): Promise<void> {
    this.#end ??= reason
    await this.#worked
    await this.#durable.catch(() => {})
  }

  /** Refuses also what waits; what is under way goes on to its end. */
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
        // Closed before the work's first request: while work has a request under way, its transaction stays open.
        if (!isClosedTransaction(error)) throw error
      }
    }
    const batch = this.#begin(isWriting)
    return { result: await work(batch.transaction), batch }
  }

  #begin(isWriting: boolean): Batch {
    if (isWriting && this.#failure) throw this.#failure
    // Every table: of transactions that have one in common the earlier is durable before the later begins.
    const transaction = this.#database.transaction(
      this.#tables,
      isWriting ? 'readwrite' : 'readonly',
      // Else a browser answers before the disk has it.
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
      // Told to those who wait for it; a transaction that only read has nobody.
      .catch(() => {})
      .finally(() => {
        this.#writing.delete(batch)
        if (this.#batch === batch) this.#batch = undefined
      })
    return batch
  }

  /** Nothing may become durable after a write that did not: what is open is given up, what comes is refused. */
  #fail(error: unknown): ClientError {
    if (!this.#failure) {
      this.#failure = storeFailure(error)
      for (const { transaction } of this.#writing) abort(transaction)
    }
    return this.#failure
  }
}

/** What IndexedDB throws, as the client's own error. */
export function storeFailure(error: unknown): ClientError {
  if (error instanceof ClientError) return error
  const name = error instanceof Error ? error.name : ''
  if (name === 'QuotaExceededError') {
    return new ClientError('STORE_FAILED', 'the browser gives this site no more room to store', {
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
    // It has ended meanwhile.
    if (!isClosedTransaction(error)) throw error
  }
}
