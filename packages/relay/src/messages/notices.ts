// Notices: stored frames for one account that are not part of a conversation's order, kept until they have
// arrived.
import type { AccountId, Sql } from '../storage/storage.ts'

export interface Notice {
  readonly id: number
  readonly frame: string
}

/**
 * Stores a frame for an account. Ring the account with it after the transaction has committed.
 * @param keptFor the number of an order: the notice does not expire before {@link releaseNotices}
 * @returns the notice's id
 */
export async function addNotice(
  sql: Sql,
  account: AccountId,
  frame: string,
  { now, keptFor }: { now: number; keptFor?: number | undefined },
): Promise<number> {
  const [row] = await sql<{ id: number }>`
    INSERT INTO notices (account_id, frame, created_at, kept_for)
    VALUES (${account}, ${frame}, ${now}, ${keptFor ?? null}) RETURNING id`
  if (!row) throw new Error('a notice was not stored')
  return row.id
}

/** Lets the notices that were kept for an order expire like others, by their age. */
export async function releaseNotices(sql: Sql, keptFor: number): Promise<void> {
  await sql`UPDATE notices SET kept_for = NULL WHERE kept_for = ${keptFor}`
}

/** An account's notices after an id, oldest first, at most `most`. */
export function readNotices(sql: Sql, account: AccountId, afterId: number, most: number): Promise<Notice[]> {
  return sql<Notice>`
    SELECT id, frame FROM notices WHERE account_id = ${account} AND id > ${afterId} ORDER BY id LIMIT ${most}`
}
