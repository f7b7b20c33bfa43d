// Media: blobs, the parts they consist of, what is being written, and what is to be removed.
import { type Migration, words } from './migration.ts'

export const media: Migration = (dialect) => {
  const { identity, clustered } = words(dialect)
  return [
    // state: open (an upload in parts), completing (its parts are being put together), awaited (a link to write to was
    //   given out), stored (can be read).
    // object: what the store knows it by, which says nothing of its key. handle: the store's own name of an upload in parts.
    // bytes, parts: what it takes of its owner's room, with what is being written to it.
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
    // Room taken by a part before it is there. version: what this attempt is known by; a later one takes its place.
    `CREATE TABLE media_writes (
      blob BIGINT NOT NULL,
      part_number BIGINT NOT NULL,
      version TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (blob, part_number)
    ) ${clustered}`,
    `CREATE INDEX media_writes_by_end ON media_writes (expires_at)`,
    // What no row above names any more, until the store has removed it.
    `CREATE TABLE media_doomed (object TEXT PRIMARY KEY) ${clustered}`,
  ]
}
