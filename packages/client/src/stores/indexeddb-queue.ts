// Runs work on an IndexedDB database in order, with as many pieces per transaction as arrive in time.
// Requests that do not depend on each other are made at once: waiting for each one costs a page ten times as
// much.
import { ClientError } from '../client-error.ts'
import type { StoreChange } from './records.ts'

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
  readonly reject: (error: ClientError) => void
}

interface ReadTask extends Task {
  readonly kind: 'read'
  readonly work: Work<unknown>
  readonly resolve: (result: unknown) => void
}

interface WriteTask extends Task {
  readonly kind: 'write'
  readonly work: Work<void>
  readonly resolve: () => void
}

interface ChangesTask extends Task {
  readonly kind: 'changes'
  readonly changes: readonly StoreChange[]
  readonly resolve: () => void
}

/** Writes changes within a transaction, one after another. */
export type WriteChanges = (transaction: IDBTransaction, changes: readonly StoreChange[]) => Promise<void>

/**
 * Runs work in the order of the calls. Work that follows a write while its transaction is open joins that
 * transaction. So a burst of messages, each looked up and then written, is synced to the disk once. After a
 * failed write, later writes are refused.
 */
export class WorkQueue {
  readonly #database: IDBDatabase
  readonly #writeChanges: WriteChanges
  readonly #tables: readonly string[]
  readonly #tasks: (ReadTask | WriteTask | ChangesTask)[] = []
  readonly #writing = new Set<Batch>()
  #isWorking = false
  #worked: Promise<void> = Promise.resolve()
  #batch: Batch | undefined
  /** Resolves once every earlier write is durable. */
  #durable: Promise<void> = Promise.resolve()
  #failure: ClientError | undefined
  #end: ClientError | undefined

  constructor(database: IDBDatabase, writeChanges: WriteChanges) {
    this.#database = database
    this.#writeChanges = writeChanges
    this.#tables = [...database.objectStoreNames]
  }

  /**
   * Resolves with the result of `work`, which runs after every earlier write, side by side with other reads.
   */
  read<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T
      const keep = async (transaction: IDBTransaction): Promise<void> => {
        result = await work(transaction)
      }
      this.#add({ kind: 'read', work: keep, resolve: () => resolve(result), reject })
    })
  }

  /** Resolves once everything that `work` writes, and everything before it, is durable. */
  write(work: Work<void>): Promise<void> {
    return new Promise((resolve, reject) => this.#add({ kind: 'write', work, resolve, reject }))
  }

  /**
   * Writes changes, which may be none. Resolves once they, and everything before them, are durable. Changes
   * of calls that follow each other are written together.
   */
  change(changes: readonly StoreChange[]): Promise<void> {
    return new Promise((resolve, reject) => this.#add({ kind: 'changes', changes, resolve, reject }))
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

  #add(task: ReadTask | WriteTask | ChangesTask): void {
    if (this.#end) {
      task.reject(this.#end)
      return
    }
    this.#tasks.push(task)
    if (!this.#isWorking) this.#worked = this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let task = this.#tasks[0]; task; task = this.#tasks[0]) {
      if (task.kind === 'read') await this.#readAll(this.#takeAll('read'))
      else if (task.kind === 'changes') {
        const tasks = this.#takeAll('changes')
        const changes = tasks.flatMap((each) => each.changes)
        const work: Work<void> = (transaction) => this.#writeChanges(transaction, changes)
        await this.#write(tasks, changes.length > 0 ? work : undefined)
      } else {
        this.#tasks.shift()
        await this.#write([task], task.work)
      }
    }
    this.#isWorking = false
  }

  /** Takes the next tasks, as far as they are of one kind. */
  #takeAll<K extends 'read' | 'changes'>(kind: K): Extract<ReadTask | ChangesTask, { kind: K }>[] {
    const isOther = this.#tasks.findIndex((task, at) => task.kind !== kind || at >= MAX_WRITES)
    const taken = this.#tasks.splice(0, isOther < 0 ? this.#tasks.length : isOther)
    return taken.filter((task): task is Extract<ReadTask | ChangesTask, { kind: K }> => task.kind === kind)
  }

  async #readAll(tasks: readonly ReadTask[]): Promise<void> {
    try {
      const { result } = await this.#run(async (transaction) => {
        const results = await Promise.allSettled(tasks.map(async ({ work }) => work(transaction)))
        const closed = results.find((each) => each.status === 'rejected' && isClosedTransaction(each.reason))
        if (closed?.status === 'rejected') throw closed.reason
        return results
      }, false)
      for (const [at, { resolve, reject }] of tasks.entries()) {
        const each = result[at]
        if (each?.status === 'rejected') reject(storeFailure(each.reason))
        else resolve(each?.value)
      }
    } catch (error) {
      for (const { reject } of tasks) reject(storeFailure(error))
    }
  }

  async #write(tasks: readonly (WriteTask | ChangesTask)[], work: Work<void> | undefined): Promise<void> {
    try {
      if (this.#failure) throw this.#failure
      if (work) {
        const { batch } = await this.#run(work, true)
        batch.writes += tasks.length
        if (batch.writes >= MAX_WRITES) this.#batch = undefined
      }
      for (const { resolve, reject } of tasks) this.#durable.then(resolve, reject)
    } catch (error) {
      const failure = this.#fail(error)
      for (const { reject } of tasks) reject(failure)
    }
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
