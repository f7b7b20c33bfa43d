// Commits batches on PostgreSQL, with a fixed number of statements per batch, no matter how many frames it
// has.
import { isUniqueViolation, type PostgresEngine } from '../storage/storage.ts'
import type { Batch } from './batch.ts'
import { type BatchStore, keysOf } from './batch-store.ts'
import { readRows } from './postgres-batch-rows.ts'
import { write } from './postgres-batch-writes.ts'

export function createPostgresBatchStore(engine: PostgresEngine): BatchStore {
  return {
    commit: async (operations, work) => {
      const keys = keysOf(operations)
      const attempt = (): Promise<Batch> =>
        engine.commitMessages(async (sql) => {
          const rows = await readRows(sql, keys)
          const batch = work(rows)
          await write(sql, rows, batch.writes())
          return batch
        })
      try {
        return await attempt()
      } catch (error) {
        // Another node stored the same sender's id in another conversation at the same time. Now this node
        // can read it.
        if (isUniqueViolation(error)) return await attempt()
        throw error
      }
    },
  }
}
