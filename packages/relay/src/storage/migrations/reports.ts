// What people reported to the operator.
import { type Migration, sqlWords } from './migration.ts'

export const reports: Migration = (dialect) => [
  // about: 'account', 'friend_request', 'channel' or 'post'.
  // object: the alias, or the ids of channel and post.
  // content: what the reporter attached, NULL if nothing or if the report is done.
  `CREATE TABLE reports (
    id ${sqlWords(dialect).identity},
    reporter_id BIGINT NOT NULL,
    about TEXT NOT NULL,
    object TEXT NOT NULL,
    reason TEXT NOT NULL,
    content TEXT,
    reported_at BIGINT NOT NULL,
    done_at BIGINT,
    UNIQUE (reporter_id, about, object)
  )`,
  `CREATE INDEX reports_by_age ON reports (reported_at)`,
  `CREATE INDEX reports_open ON reports (reported_at) WHERE done_at IS NULL`,
]
