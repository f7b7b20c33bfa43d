// Counts every byte that the blob store holds for an account: also bytes that no part names any more, and
// objects that wait for their removal.
import type { Migration } from './migration.ts'

export const mediaCounting: Migration = () => [
  // leftover_bytes: the bytes among `bytes` that no part names any more, but that the store may still hold
  //   until the upload ends.
  `ALTER TABLE media_blobs ADD COLUMN leftover_bytes BIGINT NOT NULL DEFAULT 0`,
  // account_id, bytes: whose storage the object uses until it is removed.
  // due_at: the object is not removed before that time, because it may still be written.
  `ALTER TABLE media_doomed ADD COLUMN account_id BIGINT`,
  `ALTER TABLE media_doomed ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE media_doomed ADD COLUMN due_at BIGINT NOT NULL DEFAULT 0`,
  `CREATE INDEX media_doomed_by_account ON media_doomed (account_id)`,
]
