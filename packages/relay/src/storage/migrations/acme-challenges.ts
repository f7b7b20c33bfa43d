// The table of the answers to an ACME server, so that every node has them.
import type { Migration } from './migration.ts'

export const acmeChallenges: Migration = () => [
  // at: milliseconds since 1970.
  `CREATE TABLE acme_challenges (
    token TEXT PRIMARY KEY,
    answer TEXT NOT NULL,
    at BIGINT NOT NULL
  )`,
]
