// The transitions of friendship: requested, accepted, rejected, ended. Each pair has one row, which is
// deleted when the friendship ends.
import { type ConversationId, type FriendshipStatus, type Limits, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import { closeConversation, openConversation } from '../messages/messages.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomUuid } from '../operations/random.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'

const DAY_MS = 86_400_000

interface Parts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
}

interface Friendship {
  id: number
  requester_id: AccountId
  recipient_id: AccountId
  /**
   * `withdrawn`: rejected, then removed by one of the two; or removed by its recipient without an answer.
   * Nobody sees this row. It keeps the record of the refusal, whose time is `changed_at`.
   */
  status: FriendshipStatus | 'withdrawn'
  changed_at: number
}

/** The result of a transition, with the hint for the account that should be told, if any. */
export interface Transition {
  readonly friendshipId: number
  readonly status: FriendshipStatus
  readonly hint?: { readonly to: AccountId; readonly type: 'friend_request' | 'friend_accepted' }
  readonly conversation?: ConversationId
}

/**
 * Requests a friendship. A repeated request changes nothing. A request to an account that has sent one
 * accepts that one.
 */
export async function requestFriendship(
  sql: Sql,
  pair: { requester: AccountId; recipient: AccountId },
  parts: Parts,
): Promise<Transition> {
  const { requester, recipient } = pair
  if (requester === recipient) throw new ProtocolError('SELF_REQUEST')
  if (!(await lockAccounts(sql, [requester, recipient]))) throw new ProtocolError('NOT_FOUND')
  if (await isBlocked(sql, { blocker: requester, blocked: recipient }))
    throw new ProtocolError('UNBLOCK_FIRST')
  const { row, isNew } = await findOrAdd(sql, pair, parts)
  if (row.status === 'accepted') throw new ProtocolError('ALREADY_FRIENDS')
  if (row.requester_id === recipient) return await acceptRow(sql, row, parts)

  // Without room the request stays rejected. A refusal would reveal to its sender that it was rejected.
  const isNewAgain =
    row.status === 'rejected' &&
    row.changed_at <= endedRejections(parts) &&
    (await hasRequestRoom(sql, recipient, parts))
  if (isNewAgain) {
    // created_at stays, because the requester sees it: a new time would reveal the rejection.
    await sql`UPDATE friendships SET status = 'pending', changed_at = ${parts.clock.now()} WHERE id = ${row.id}`
  }
  // A rejection is hidden from the requester, so a repeated request sends no hint. A blocked requester's
  // sends none either.
  const sendsHint =
    (isNew || isNewAgain) && !(await isBlocked(sql, { blocker: recipient, blocked: requester }))
  return {
    friendshipId: row.id,
    status: 'pending',
    ...(sendsHint ? { hint: { to: recipient, type: 'friend_request' } } : {}),
  }
}

/** Accepts a request to `recipient`, also one that it rejected before. Accepting again changes nothing. */
export async function acceptFriendship(
  sql: Sql,
  request: { id: number; recipient: AccountId },
  parts: Parts,
): Promise<Transition> {
  const [pair] = await sql<{ requester_id: AccountId }>`
    SELECT requester_id FROM friendships WHERE id = ${request.id} AND recipient_id = ${request.recipient}`
  const exist = pair && (await lockAccounts(sql, [pair.requester_id, request.recipient]))
  if (!exist) throw new ProtocolError('NOT_FOUND')
  const row = await lockRequest(sql, request)
  if (await isBlocked(sql, { blocker: row.recipient_id, blocked: row.requester_id }))
    throw new ProtocolError('NOT_FOUND')
  return await acceptRow(sql, row, parts)
}

/** Rejects a request to `recipient`. */
export async function rejectFriendship(
  sql: Sql,
  request: { id: number; recipient: AccountId },
  parts: Parts,
): Promise<void> {
  const row = await lockRequest(sql, request)
  if (row.status === 'accepted') throw new ProtocolError('NOT_FOUND')
  if (row.status === 'rejected') return
  await sql`UPDATE friendships SET status = 'rejected', changed_at = ${parts.clock.now()} WHERE id = ${row.id}`
}

/** Ends a friendship or removes a request, on behalf of any of its two accounts. */
export async function removeFriendship(
  sql: Sql,
  friendship: { id: number; side: AccountId },
  parts: Pick<Parts, 'clock'>,
): Promise<void> {
  const { id, side } = friendship
  const [row] = await sql<Friendship>`
    UPDATE friendships SET changed_at = changed_at
    WHERE id = ${id} AND (requester_id = ${side} OR recipient_id = ${side}) AND status <> 'withdrawn'
    RETURNING id, requester_id, recipient_id, status, changed_at`
  if (!row) throw new ProtocolError('NOT_FOUND')
  // Without the `withdrawn` row, the requester could send the refused request again at once.
  const isRemovedByRecipient = row.status === 'pending' && row.recipient_id === side
  if (row.status === 'rejected' || isRemovedByRecipient) {
    const refusedAt = row.status === 'rejected' ? row.changed_at : parts.clock.now()
    await sql`UPDATE friendships SET status = 'withdrawn', changed_at = ${refusedAt} WHERE id = ${id}`
  } else {
    await sql`DELETE FROM friendships WHERE id = ${id}`
  }
  await closeConversation(sql, row.requester_id, row.recipient_id)
}

/** Blocks an account. To the blocked account it looks as if the friendship had ended. */
export async function blockAccount(
  sql: Sql,
  pair: { blocker: AccountId; blocked: AccountId },
  parts: Parts,
): Promise<void> {
  const { blocker, blocked } = pair
  if (blocker === blocked) throw new ProtocolError('SELF_REQUEST')
  if (!(await lockAccounts(sql, [blocker, blocked]))) throw new ProtocolError('NOT_FOUND')
  // Blocking the same account again changes nothing, even if the list is full.
  const [others] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM blocks WHERE blocker_id = ${blocker} AND blocked_id <> ${blocked}`
  if ((others?.count ?? 0) >= parts.limits.friends) throw new ProtocolError('TOO_MANY_FRIENDS')
  await sql`
    INSERT INTO blocks (blocker_id, blocked_id, created_at) VALUES (${blocker}, ${blocked}, ${parts.clock.now()})
    ON CONFLICT DO NOTHING`
  const [low, high] = blocker < blocked ? [blocker, blocked] : [blocked, blocker]
  // A rejection outlasts the block, no matter which of the two blocks.
  await sql`
    UPDATE friendships SET status = 'withdrawn'
    WHERE low_id = ${low} AND high_id = ${high} AND status = 'rejected'`
  await sql`DELETE FROM friendships WHERE low_id = ${low} AND high_id = ${high} AND status <> 'withdrawn'`
  await closeConversation(sql, blocker, blocked)
}

/** How many records of refusals one pass deletes. */
const FORGOTTEN_PER_PASS = 1000

/** Deletes records of refusals that have ended. */
export async function forgetRejections(
  storage: Storage,
  parts: Pick<Parts, 'clock' | 'limits'>,
): Promise<void> {
  await storage.transaction(
    (sql) => sql`
      DELETE FROM friendships WHERE status = 'withdrawn' AND id IN (
        SELECT id FROM friendships WHERE status = 'withdrawn' AND changed_at <= ${endedRejections(parts)}
        ORDER BY changed_at LIMIT ${FORGOTTEN_PER_PASS})`,
  )
}

/** Rejections up to this time have ended. */
function endedRejections({ clock, limits }: Pick<Parts, 'clock' | 'limits'>): number {
  return clock.now() - limits.rejectionDays * DAY_MS
}

async function findOrAdd(
  sql: Sql,
  { requester, recipient }: { requester: AccountId; recipient: AccountId },
  parts: Parts,
): Promise<{ row: Friendship; isNew: boolean }> {
  const [low, high] = requester < recipient ? [requester, recipient] : [recipient, requester]
  const [known] = await sql<Friendship>`
    SELECT id, requester_id, recipient_id, status, changed_at FROM friendships
    WHERE low_id = ${low} AND high_id = ${high}`
  const withdrawn = known?.status === 'withdrawn' ? known : undefined
  if (withdrawn) await sql`DELETE FROM friendships WHERE id = ${withdrawn.id}`
  if (!known || withdrawn) {
    await checkFriendCount(sql, requester, parts)
    // Also where the new request is hidden from its recipient: else the answer would reveal that.
    if (!(await hasRequestRoom(sql, recipient, parts))) throw new ProtocolError('REQUESTS_FULL')
  }
  const now = parts.clock.now()
  // To its requester, a request after a withdrawal is new. To the recipient who rejected it, it stays
  // rejected.
  const rejectedAt = withdrawn?.requester_id === requester ? withdrawn.changed_at : undefined
  // If another transaction has added the row in the meantime, the update only locks it.
  const [row] = await sql<Friendship>`
    INSERT INTO friendships (low_id, high_id, requester_id, recipient_id, status, created_at, changed_at)
    VALUES (${low}, ${high}, ${requester}, ${recipient}, ${rejectedAt === undefined ? 'pending' : 'rejected'}, ${now},
      ${rejectedAt ?? now})
    ON CONFLICT (low_id, high_id) DO UPDATE SET changed_at = friendships.changed_at
    RETURNING id, requester_id, recipient_id, status, changed_at`
  if (!row) throw new Error('a friendship was neither found nor created')
  const isNew =
    (!known || withdrawn !== undefined) && row.status === 'pending' && row.requester_id === requester
  return { row, isNew }
}

// Locks and returns the request. A request to another account gets the same error as one that does not exist.
async function lockRequest(sql: Sql, request: { id: number; recipient: AccountId }): Promise<Friendship> {
  const [row] = await sql<Friendship>`
    UPDATE friendships SET changed_at = changed_at WHERE id = ${request.id} AND recipient_id = ${request.recipient} AND status <> 'withdrawn'
    RETURNING id, requester_id, recipient_id, status, changed_at`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return row
}

async function acceptRow(sql: Sql, row: Friendship, parts: Parts): Promise<Transition> {
  const isNew = row.status !== 'accepted'
  const now = parts.clock.now()
  if (isNew) {
    await checkFriendCount(sql, row.recipient_id, parts)
    await sql`UPDATE friendships SET status = 'accepted', changed_at = ${now} WHERE id = ${row.id}`
  }
  const freshId = randomUuid(parts.randomBytes)
  const { requester_id, recipient_id } = row
  const acceptedAt = isNew ? now : undefined
  const conversation = await openConversation(sql, requester_id, recipient_id, freshId, acceptedAt)
  return {
    friendshipId: row.id,
    status: 'accepted',
    conversation,
    ...(isNew ? { hint: { to: row.requester_id, type: 'friend_accepted' } } : {}),
  }
}

async function checkFriendCount(sql: Sql, account: AccountId, parts: Parts): Promise<void> {
  const [row] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM friendships
    WHERE (requester_id = ${account} AND status <> 'withdrawn')
      OR (recipient_id = ${account} AND status = 'accepted')`
  if ((row?.count ?? 0) >= parts.limits.friends) throw new ProtocolError('TOO_MANY_FRIENDS')
}

/** Whether another request may wait for this account. Those of accounts that it has blocked do not count. */
async function hasRequestRoom(sql: Sql, account: AccountId, parts: Pick<Parts, 'limits'>): Promise<boolean> {
  const [row] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM friendships
    WHERE recipient_id = ${account} AND status = 'pending' AND NOT EXISTS (
      SELECT 1 FROM blocks WHERE blocker_id = ${account} AND blocked_id = requester_id)`
  return (row?.count ?? 0) < parts.limits.friendRequests
}

async function isBlocked(sql: Sql, pair: { blocker: AccountId; blocked: AccountId }): Promise<boolean> {
  const rows = await sql<{ created_at: number }>`
    SELECT created_at FROM blocks WHERE blocker_id = ${pair.blocker} AND blocked_id = ${pair.blocked}`
  return rows.length > 0
}
