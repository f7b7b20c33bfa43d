// A store of a process that dies between two transactions.
import type { Storage } from '../src/storage/storage.ts'

/** The same store, for a process that dies after this many transactions. */
export function dyingAfter(storage: Storage, transactions: number): Storage {
  let left = transactions
  return {
    ...storage,
    transaction: async (work) => {
      if (left === 0) throw new Error('the process died')
      left -= 1
      return await storage.transaction(work)
    },
  }
}
