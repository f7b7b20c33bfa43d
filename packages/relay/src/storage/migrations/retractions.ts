// The counts of waiting retractions, by which they are bounded.
import type { Migration } from './migration.ts'

export const retractions: Migration = () => [
  `ALTER TABLE lanes ADD COLUMN retraction_count BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE mailboxes ADD COLUMN retraction_count BIGINT NOT NULL DEFAULT 0`,
  `UPDATE lanes SET retraction_count = (SELECT COUNT(*) FROM messages WHERE kind = 1
      AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)
    WHERE (conversation_id, recipient_id) IN (SELECT conversation_id, recipient_id FROM messages WHERE kind = 1)`,
  `UPDATE mailboxes SET retraction_count = (SELECT COUNT(*) FROM messages WHERE kind = 1
      AND messages.recipient_id = mailboxes.account_id)
    WHERE account_id IN (SELECT recipient_id FROM messages WHERE kind = 1)`,
  // Expiry now finds retractions as it finds messages: by the lanes that have any. (The very first stores do
  // not have this index.)
  `DROP INDEX IF EXISTS messages_retractions`,
  `DROP INDEX lanes_pending`,
  `CREATE INDEX lanes_pending ON lanes (conversation_id, recipient_id)
    WHERE pending_count > 0 OR retraction_count > 0`,
]
