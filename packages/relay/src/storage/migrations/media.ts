// The tables of media: blobs, their parts, the parts being written, and the objects to remove.
import { type Migration, sqlWords } from './migration.ts'

export const media: Migration = (dialect) => {
  const { identity, clustered } = sqlWords(dialect)
  return [
    // state: open (an upload in parts), completing (its parts are being joined), awaited (the client has a
    //   link to upload to), stored (can be read).
    // object: the blob's name in the blob store, which reveals nothing about its key.
    // handle: the blob store's name of an upload in parts.
    // bytes, parts: how much of its owner's quota the blob uses, including parts that are being written.
    `CREATE TABLE media_blobs (
      id ${identity},
      media_key TEXT NOT NULL UNIQUE,
      upload_id TEXT UNIQUE,
      account_id BIGINT NOT NULL REFERENCES accounts (id),
      state TEXT NOT NULL,
      object TEXT NOT NULL UNIQUE,
      handle TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      parts BIGINT NOT NULL,
      exact_bytes BIGINT,
      expires_at BIGINT NOT NULL
    )`,
    `CREATE INDEX media_blobs_by_account ON media_blobs (account_id, state)`,
    `CREATE INDEX media_blobs_by_end ON media_blobs (state, expires_at)`,
    `CREATE TABLE media_parts (
      blob BIGINT NOT NULL,
      part_number BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      etag TEXT NOT NULL,
      PRIMARY KEY (blob, part_number)
    ) ${clustered}`,
    // The quota reserved for a part while it is written. version: identifies this attempt; a later attempt
    // replaces it.
    `CREATE TABLE media_writes (
      blob BIGINT NOT NULL,
      part_number BIGINT NOT NULL,
      version TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (blob, part_number)
    ) ${clustered}`,
    `CREATE INDEX media_writes_by_end ON media_writes (expires_at)`,
    // Objects that no blob uses any more, until the blob store has removed them.
    `CREATE TABLE media_doomed (object TEXT PRIMARY KEY) ${clustered}`,
  ]
}
