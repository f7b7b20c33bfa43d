// The table of leases: which node does the work that only one may do at a time.
import type { Migration } from './migration.ts'

export const leases: Migration = () => [
  // holder: the node's random name, new at each start. fence: grows with each turn.
  // ends_at: by the database's clock, in milliseconds since 1970. A turn that was given up ends at 0.
  // The unique rule makes fence a key: on PostgreSQL, a change of it waits for transactions that hold
  // FOR KEY SHARE, and a change of ends_at alone does not.
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fence BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    UNIQUE (name, fence)
  )`,
]
