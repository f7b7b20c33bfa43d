// Notices: stored frames for one account that are not part of a conversation's order, kept until they have
// arrived.
import type { AccountId, Sql } from '../storage/storage.ts'

export interface Notice {
  readonly id: number
  readonly frame: string
}

/**
 * Stores a frame for an account. Ring the account with it after the transaction has committed. @returns the
 * notice's id
 */
export async function addNotice(sql: Sql, account: AccountId, frame: string, now: number): Promise<number> {
  const [row] = await sql<{ id: number }>`
    INSERT INTO notices (account_id, frame, created_at) VALUES (${account}, ${frame}, ${now}) RETURNING id`
  if (!row) throw new Error('a notice was not stored')
  return row.id
}

/** An account's notices after an id, oldest first, at most `most`. */
export function readNotices(sql: Sql, account: AccountId, afterId: number, most: number): Promise<Notice[]> {
  return sql<Notice>`
    SELECT id, frame FROM notices WHERE account_id = ${account} AND id > ${afterId} ORDER BY id LIMIT ${most}`
}
