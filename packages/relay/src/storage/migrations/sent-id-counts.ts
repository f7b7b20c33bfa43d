// How many new message ids the accounts that send much have used on a day.
import type { Migration } from './migration.ts'

export const sentIdCounts: Migration = () => [
  // day: the number of the day since 1970, by UTC.
  `CREATE TABLE sent_id_counts (
    account_id BIGINT PRIMARY KEY,
    day BIGINT NOT NULL,
    used BIGINT NOT NULL
  )`,
]
