// What the relay must know to send marks to clients that do not read their seq.
import type { Migration } from './migration.ts'

// unread_seqs: the sender's messages that are not read, retracted or expired (messages/unread-seqs.ts). For
// older messages only the last one counts, as a bound: the last id that the sender used and did not retract;
// and if its ids are forgotten already, everything that was delivered.
// told_round: how often the marks were reset to be sent again. A confirmation counts for its round only.
export const toldMarks: Migration = () => [
  `ALTER TABLE lanes ADD COLUMN unread_seqs TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE lanes ADD COLUMN told_round BIGINT NOT NULL DEFAULT 0`,
  `UPDATE lanes SET unread_seqs = '<' || delivered_seq WHERE delivered_seq > read_seq`,
  `UPDATE lanes SET unread_seqs = CASE WHEN sent.seq > lanes.read_seq THEN '<' || sent.seq ELSE '' END
    FROM (SELECT sender_id, conversation_id, MAX(seq) AS seq FROM sent_ids
      WHERE is_retracted = 0 GROUP BY sender_id, conversation_id) AS sent
    WHERE lanes.conversation_id = sent.conversation_id AND lanes.sender_id = sent.sender_id`,
  `DROP INDEX lanes_to_tell`,
  `CREATE INDEX lanes_to_tell ON lanes (sender_id, conversation_id)
    WHERE told_delivered_seq < delivered_seq OR told_read_seq < read_seq`,
]
