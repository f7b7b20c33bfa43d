// The accounts that are deleted but not purged yet, and an index that purging needs.
import type { Migration } from './migration.ts'

export const purges: Migration = () => [
  // A row stays until everything that the deleted account left is erased.
  `CREATE TABLE account_purges (account_id BIGINT PRIMARY KEY)`,
  `CREATE INDEX blocks_by_blocked ON blocks (blocked_id)`,
]
