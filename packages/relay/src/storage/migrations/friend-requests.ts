// Indexes by which friend requests are counted, friend lists read in pages, and past rejections found.
import type { Migration } from './migration.ts'

export const friendRequests: Migration = () => [
  `DROP INDEX friendships_by_requester`,
  `DROP INDEX friendships_by_recipient`,
  `CREATE INDEX friendships_by_requester ON friendships (requester_id, id)`,
  `CREATE INDEX friendships_by_recipient ON friendships (recipient_id, id)`,
  `CREATE INDEX friendships_received ON friendships (recipient_id, status, id)`,
  `CREATE INDEX friendships_withdrawn ON friendships (changed_at) WHERE status = 'withdrawn'`,
]
