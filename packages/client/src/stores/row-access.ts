// Gives the index of messages access to the rows of a store that has a database. A map beside the stores
// keeps this out of the interface of stores, and the index out of applications that do not search.
import type { WorkQueue } from './indexeddb-queue.ts'
import type { ClientStore } from './store.ts'

/** Runs work on the rows of a store, in the order of its other work. */
export type RowAccess = Pick<WorkQueue, 'read' | 'write'>

const accesses = new WeakMap<ClientStore, RowAccess>()

/** Lets the index of messages use the rows of a store. */
export function grantRows(store: ClientStore, rows: RowAccess | undefined): void {
  if (rows) accesses.set(store, rows)
}

/** The access to the rows of a store; undefined if it has no database. */
export function rowsOf(store: ClientStore): RowAccess | undefined {
  return accesses.get(store)
}
