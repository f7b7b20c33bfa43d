// Frames for one account that belong to no conversation's order, kept until the account has them.
import type { AccountId, Sql } from '../storage/storage.ts'

/** A kept frame. */
export interface Notice {
  readonly id: number
  readonly frame: string
}

/** Keeps a frame for an account. Ring the account with it once the transaction is committed. @returns its number */
export async function addNotice(sql: Sql, account: AccountId, frame: string, now: number): Promise<number> {
  const [row] = await sql<{ id: number }>`
    INSERT INTO notices (account_id, frame, created_at) VALUES (${account}, ${frame}, ${now}) RETURNING id`
  if (!row) throw new Error('a notice was not kept')
  return row.id
}

/** What is kept for an account beyond a number, oldest first, at most `most`. */
export function readNotices(sql: Sql, account: AccountId, afterId: number, most: number): Promise<Notice[]> {
  return sql<Notice>`
    SELECT id, frame FROM notices WHERE account_id = ${account} AND id > ${afterId} ORDER BY id LIMIT ${most}`
}
