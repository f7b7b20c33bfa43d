// Friendship as the rest of the relay knows it: its endpoints, and what goes with a deleted account.
import type { AccountId, Sql } from '../storage/storage.ts'

export { renameFrames } from './rename.ts'
export { friendRoutes } from './routes.ts'

/** Erases an account's friendships and blocks, in both directions. */
export async function eraseFriendships(sql: Sql, account: AccountId): Promise<void> {
  await sql`DELETE FROM friendships WHERE requester_id = ${account} OR recipient_id = ${account}`
  await sql`DELETE FROM blocks WHERE blocker_id = ${account} OR blocked_id = ${account}`
}
