// The table that counts orders of ids without an account.
import { type Migration, sqlWords } from './migration.ts'

export const reserves: Migration = (dialect) => [
  // One row per order and network that it counts for: its address, and an IPv6 address's wider networks.
  // network: a hash with a secret of the relay (purpose 'reserve'), never the address itself.
  `CREATE TABLE reserves (
    network TEXT NOT NULL,
    at BIGINT NOT NULL,
    reserve TEXT NOT NULL,
    PRIMARY KEY (network, at, reserve)
  ) ${sqlWords(dialect).clustered}`,
  `CREATE INDEX reserves_by_age ON reserves (at)`,
  `CREATE INDEX reserves_by_name ON reserves (reserve)`,
]
