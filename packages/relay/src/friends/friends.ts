// The public file of friendship: its endpoints, the check for friends, and the erasure for a deleted account.
import { inSlices, moreAfter, ROWS_PER_SLICE, type Sliced } from '../operations/slices.ts'
import type { AccountId, Sql } from '../storage/storage.ts'

export { forgetRejections } from './friendships.ts'
export { tellFriends } from './rename.ts'
export { friendRoutes } from './routes.ts'

/** Whether the two accounts are friends. */
export async function areFriends(sql: Sql, a: AccountId, b: AccountId): Promise<boolean> {
  const [low, high] = a < b ? [a, b] : [b, a]
  const rows = await sql<{ id: number }>`
    SELECT id FROM friendships WHERE low_id = ${low} AND high_id = ${high} AND status = 'accepted'`
  return rows.length > 0
}

/** Erases the friendships, requests and blocks of a deleted account, in both directions. */
export async function eraseFriendships(account: AccountId, sliced: Sliced): Promise<void> {
  const each = (slice: (sql: Sql) => Promise<object[]>): Promise<void> =>
    inSlices(sliced, 'more', async (sql) => moreAfter(await slice(sql)))
  await each(
    (sql) => sql`
      DELETE FROM friendships WHERE id IN (
        SELECT id FROM friendships WHERE requester_id = ${account} LIMIT ${ROWS_PER_SLICE}) RETURNING id`,
  )
  await each(
    (sql) => sql`
      DELETE FROM friendships WHERE id IN (
        SELECT id FROM friendships WHERE recipient_id = ${account} LIMIT ${ROWS_PER_SLICE}) RETURNING id`,
  )
  await each(
    (sql) => sql`
      DELETE FROM blocks WHERE blocker_id = ${account} AND blocked_id IN (
        SELECT blocked_id FROM blocks WHERE blocker_id = ${account} LIMIT ${ROWS_PER_SLICE}) RETURNING blocked_id`,
  )
  await each(
    (sql) => sql`
      DELETE FROM blocks WHERE blocked_id = ${account} AND blocker_id IN (
        SELECT blocker_id FROM blocks WHERE blocked_id = ${account} LIMIT ${ROWS_PER_SLICE}) RETURNING blocker_id`,
  )
}
