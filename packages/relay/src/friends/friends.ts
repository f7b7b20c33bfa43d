// The public file of friendship: its endpoints, the check for friends, and the erasure for a deleted account.
import type { AccountId, Sql } from '../storage/storage.ts'

export { renameFrames } from './rename.ts'
export { friendRoutes } from './routes.ts'

/** Whether the two accounts are friends. */
export async function areFriends(sql: Sql, a: AccountId, b: AccountId): Promise<boolean> {
  const [low, high] = a < b ? [a, b] : [b, a]
  const rows = await sql<{ id: number }>`
    SELECT id FROM friendships WHERE low_id = ${low} AND high_id = ${high} AND status = 'accepted'`
  return rows.length > 0
}

/** Erases an account's friendships and blocks, in both directions. */
export async function eraseFriendships(sql: Sql, account: AccountId): Promise<void> {
  await sql`DELETE FROM friendships WHERE requester_id = ${account} OR recipient_id = ${account}`
  await sql`DELETE FROM blocks WHERE blocker_id = ${account} OR blocked_id = ${account}`
}
