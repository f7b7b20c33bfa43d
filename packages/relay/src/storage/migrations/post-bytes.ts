// How many bytes the posts of each channel have.
import type { Migration } from './migration.ts'

export const postBytes: Migration = () => [
  `ALTER TABLE channels ADD COLUMN post_bytes BIGINT NOT NULL DEFAULT 0`,
  `UPDATE channels SET post_bytes = (SELECT SUM(octet_length(content)) FROM channel_posts WHERE channel = channels.id)
    WHERE id IN (SELECT channel FROM channel_posts)`,
]
