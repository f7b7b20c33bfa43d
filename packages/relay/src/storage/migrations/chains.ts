// What the relay knows of each chain it reads: the block up to which enough endpoints agree, why its payments
// wait, and the operator's wish to read it again.
import { type Migration, sqlWords } from './migration.ts'

export const chains: Migration = (dialect) => {
  const { clustered } = sqlWords(dialect)
  return [
    `CREATE TABLE chains (
      scope TEXT PRIMARY KEY,
      agreed_height BIGINT NOT NULL,
      agreed_hash TEXT NOT NULL,
      agreed_at BIGINT NOT NULL,
      -- Why payments wait, with the hosts concerned, and since when; NULL if nothing is wrong.
      trouble TEXT,
      trouble_hosts TEXT NOT NULL DEFAULT '',
      trouble_since BIGINT,
      -- The block from which to read again; NULL if the reading goes on.
      rescan_from BIGINT
    ) ${clustered}`,
    // A chain that is read already: the oldest block that a reorganisation may still replace.
    `INSERT INTO chains (scope, agreed_height, agreed_hash, agreed_at)
      SELECT scope, height, hash, at FROM chain_blocks AS oldest
      WHERE height = (SELECT MIN(height) FROM chain_blocks WHERE scope = oldest.scope)`,
  ]
}
