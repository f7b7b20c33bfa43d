// The table of the last day's figures.
import { type Migration, sqlWords } from './migration.ts'

export const dayFigures: Migration = (dialect) => [
  // One row a minute, at most a day of them.
  // minute: minutes since 1970. connections: at its end, like the bytes.
  // ack_us: within so many microseconds 95 of 100 messages were acknowledged; NULL if there were none.
  // errors: lines of the log of level error. refusals: errors that clients got.
  `CREATE TABLE day_figures (
    minute BIGINT PRIMARY KEY,
    connections BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    registrations BIGINT NOT NULL,
    ack_us BIGINT,
    database_bytes BIGINT NOT NULL,
    media_bytes BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    refusals BIGINT NOT NULL
  ) ${sqlWords(dialect).clustered}`,
]
