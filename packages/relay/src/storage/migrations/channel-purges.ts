// The channels that are deleted but not purged yet.
import type { Migration } from './migration.ts'

export const channelPurges: Migration = () => [
  // A row stays until the posts and subscriptions of the deleted channel are erased.
  // owner_id: its last owner.
  `CREATE TABLE channel_purges (channel BIGINT PRIMARY KEY, owner_id BIGINT NOT NULL)`,
  `CREATE INDEX channel_purges_by_owner ON channel_purges (owner_id)`,
]
