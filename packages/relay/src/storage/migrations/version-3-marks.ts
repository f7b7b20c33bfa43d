// Which message of version 3 an account sent last in a conversation.
import type { Migration } from './migration.ts'

export const version3Marks: Migration = () => [
  // version_3_seq: the `seq` of the last message of crypto_v 3 that came into this lane, delivered or not; 0
  // for none.
  `ALTER TABLE lanes ADD COLUMN version_3_seq BIGINT NOT NULL DEFAULT 0`,
]
