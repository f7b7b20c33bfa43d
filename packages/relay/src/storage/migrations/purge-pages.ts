// A page of PostgreSQL for each list of purges. The first row of an empty table needs a new page of it and of
// its indexes, and on a full disk there is none, so that nothing could be deleted.
import type { Migration } from './migration.ts'

export const purgePages: Migration = (dialect) =>
  dialect === 'sqlite'
    ? []
    : [
        ...firstPages('account_purges', 'account_id', '(account_id) VALUES (-1)'),
        ...firstPages('channel_purges', 'channel', '(channel, owner_id) VALUES (-1, -1)'),
      ]

/** Statements that leave an empty table with pages, which no vacuum gives back. */
function firstPages(table: string, key: string, row: string): string[] {
  return [
    `ALTER TABLE ${table} SET (vacuum_truncate = off)`,
    `INSERT INTO ${table} ${row}`,
    `DELETE FROM ${table} WHERE ${key} = -1`,
  ]
}
