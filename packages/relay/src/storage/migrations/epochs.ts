// The epochs of conversations: how many handshakes each has had, and what a device joins the present one
// with.
import type { Migration } from './migration.ts'

export const epochs: Migration = () => [
  // group_epoch: 0 at first, one more with each handshake, never less.
  `ALTER TABLE conversations ADD COLUMN group_epoch BIGINT NOT NULL DEFAULT 0`,
  // A table of its own, so that batches of ordinary messages do not read it. group_info: sealed by the sender
  // of the last handshake, for the epoch after it.
  `CREATE TABLE group_infos (
    conversation_id BIGINT PRIMARY KEY,
    group_info TEXT NOT NULL
  )`,
  // group_epoch: the epoch that a message of crypto_v 3 was accepted in; NULL for others. is_handshake: 1 for
  // the message that ended the epoch; NULL for others, which takes no room.
  `ALTER TABLE messages ADD COLUMN group_epoch BIGINT`,
  `ALTER TABLE messages ADD COLUMN is_handshake BIGINT`,
  `ALTER TABLE sent_ids ADD COLUMN is_handshake BIGINT`,
  // What older clients cannot read, and what has room of its own. Other messages are not in these indexes.
  `CREATE INDEX messages_of_version_3 ON messages (conversation_id, recipient_id, seq) WHERE crypto_v = 3`,
  `CREATE INDEX messages_handshakes ON messages (conversation_id, recipient_id) WHERE is_handshake = 1`,
]
