// Suspended accounts, and what the operator has done to accounts and channels.
import { type Migration, sqlWords } from './migration.ts'

export const moderation: Migration = (dialect) => {
  const { identity } = sqlWords(dialect)
  return [
    // A row for each account that is suspended. Nothing that the account sent is delivered while it is there.
    // ends_at: when the suspension ends by itself, NULL if never.
    `CREATE TABLE suspensions (
      account_id BIGINT PRIMARY KEY,
      since BIGINT NOT NULL,
      ends_at BIGINT,
      reason TEXT NOT NULL
    )`,
    `CREATE INDEX suspensions_by_end ON suspensions (ends_at) WHERE ends_at IS NOT NULL`,
    // who: the operator's name. what: the command. object: the alias, channel or post that it was done to.
    `CREATE TABLE deeds (
      id ${identity},
      at BIGINT NOT NULL,
      who TEXT NOT NULL,
      what TEXT NOT NULL,
      object TEXT NOT NULL,
      why TEXT NOT NULL
    )`,
    `CREATE INDEX deeds_by_object ON deeds (object, id)`,
  ]
}
