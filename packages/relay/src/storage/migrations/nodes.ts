// The table of the nodes that share the store, for the operator. An embedded store leaves it empty.
import type { Migration } from './migration.ts'

export const nodes: Migration = () => [
  // node: its name on the bus, new at each start. place: its machine, port and worker. schema_known: the
  // migrations that it knows. settings: JSON with a short hash of each setting that all nodes share.
  // started_at, seen_at: by the database's clock, in milliseconds since 1970. clock_ahead_ms: how far the
  // node's clock is ahead of it. registrations: those of the last ten minutes. is_draining, is_bus_heard: 0
  // or 1.
  `CREATE TABLE nodes (
    node TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    version TEXT NOT NULL,
    schema_known BIGINT NOT NULL,
    settings TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    clock_ahead_ms BIGINT NOT NULL,
    connections BIGINT NOT NULL,
    registrations BIGINT NOT NULL,
    is_draining BIGINT NOT NULL,
    is_bus_heard BIGINT NOT NULL
  )`,
]
