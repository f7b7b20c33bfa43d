// How PostgreSQL cleans the tables whose rows come and go, or change with every message.
import type { Migration } from './migration.ts'

// By default a vacuum begins when a fifth of a table has changed. Of a table whose rows live for seconds, the
// deleted ones are most, and a large backlog makes a fifth large.
const OFTEN = 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000'
// Room on each page for the next versions of its rows, so that an update need not change the indexes.
const ROOM = 'fillfactor = 80'

export const busyTables: Migration = (dialect) =>
  dialect === 'sqlite'
    ? []
    : [
        `ALTER TABLE messages SET (${OFTEN}, toast.autovacuum_vacuum_scale_factor = 0.02,
          toast.autovacuum_vacuum_threshold = 5000)`,
        ...['notices', 'push_queue', 'push_wakes', 'tickets', 'used_challenges'].map(
          (table) => `ALTER TABLE ${table} SET (${OFTEN})`,
        ),
        ...['lanes', 'mailboxes', 'conversations', 'connections'].map(
          (table) => `ALTER TABLE ${table} SET (${OFTEN}, ${ROOM})`,
        ),
      ]
