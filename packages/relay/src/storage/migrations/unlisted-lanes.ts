// Since when a recipient's client may not know a conversation.
import type { Migration } from './migration.ts'

export const unlistedLanes: Migration = () => [
  // unlisted_since: when the friendship was accepted, while no reply of /friends has named the conversation
  // to its recipient since; then 0.
  `ALTER TABLE lanes ADD COLUMN unlisted_since BIGINT NOT NULL DEFAULT 0`,
  `CREATE INDEX lanes_unlisted ON lanes (recipient_id) WHERE unlisted_since > 0`,
]
