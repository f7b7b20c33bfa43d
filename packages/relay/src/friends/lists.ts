// Reads an account's friend list and block list, as the account may see them.
import {
  type AliasId,
  type ConversationId,
  FRIENDS_PER_PAGE,
  type FriendProfile,
  type FriendshipStatus,
  type Limits,
} from '@sotto/protocol'
import { type AccountId, part, query, type Sql, type SqlPart } from '../storage/storage.ts'

interface FriendRow {
  id: number
  status: FriendshipStatus
  created_at: number
  alias_id: AliasId
  nickname: string
  x25519_public_key: string
  ed25519_public_key: string
  conv_id: ConversationId | null
}

/** Received requests are listed if their number is higher than these. */
interface Newest {
  readonly pendingAfter: number
  readonly rejectedAfter: number
}
const ALL: Newest = { pendingAfter: 0, rejectedAfter: 0 }
const REQUESTER = part`requester_id`
const RECIPIENT = part`recipient_id`

/**
 * An account's friends and sent requests, and the newest of the requests it received: at most
 * `friendRequests` pending and as many rejected ones. For clients that read no pages.
 */
export async function listFriends(
  sql: Sql,
  account: AccountId,
  limits: Pick<Limits, 'friendRequests'>,
): Promise<FriendProfile[]> {
  const newest = await findNewest(sql, account, limits.friendRequests)
  const list: FriendProfile[] = []
  for (;;) {
    const after = list.at(-1)?.friendship_id ?? 0
    const page = await readPage(sql, account, { after, limit: FRIENDS_PER_PAGE, ...newest })
    list.push(...page)
    if (page.length < FRIENDS_PER_PAGE) return list
    await new Promise((resolve) => setImmediate(resolve)) // Lets other work run first.
  }
}

/**
 * A page of an account's friends and requests, in the order of their numbers. Only the last page has fewer
 * rows than `limit`.
 */
export function pageOfFriends(
  sql: Sql,
  account: AccountId,
  page: { after: number; limit: number },
): Promise<FriendProfile[]> {
  return readPage(sql, account, { ...page, ...ALL })
}

// A requester sees a rejected request as pending. Blocked accounts are not listed.
async function readPage(
  sql: Sql,
  account: AccountId,
  page: { after: number; limit: number } & Newest,
): Promise<FriendProfile[]> {
  const { after, limit, pendingAfter, rejectedAfter } = page
  const ofSide = (own: SqlPart, peer: SqlPart, isListed: SqlPart): Promise<FriendRow[]> =>
    sql<FriendRow>(
      ...query`
      SELECT friendships.id, friendships.status, friendships.created_at, peer.alias_id, peer.nickname,
        peer.x25519_public_key, peer.ed25519_public_key, conversations.conv_id
      FROM friendships JOIN accounts AS peer ON peer.id = friendships.${peer} AND peer.deleted_at IS NULL
      LEFT JOIN conversations ON conversations.low_id = friendships.low_id
        AND conversations.high_id = friendships.high_id AND friendships.status = 'accepted'
      WHERE friendships.${own} = ${account} AND friendships.id > ${after} AND (${isListed})
        AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.blocker_id = ${account} AND blocks.blocked_id = peer.id)
      ORDER BY friendships.id LIMIT ${limit}`,
    )
  // One query for each side, because each side has its own index.
  const sent = await ofSide(REQUESTER, RECIPIENT, part`friendships.status <> 'withdrawn'`)
  const isReceived = part`friendships.status = 'accepted'
    OR (friendships.status = 'pending' AND friendships.id > ${pendingAfter})
    OR (friendships.status = 'rejected' AND friendships.id > ${rejectedAfter})`
  const received = await ofSide(RECIPIENT, REQUESTER, isReceived)
  const rows = [
    ...sent.map((row) => profileOf(row, 'sent')),
    ...received.map((row) => profileOf(row, 'received')),
  ]
  return rows.sort((a, b) => a.friendship_id - b.friendship_id).slice(0, limit)
}

/** The numbers above which an account has received `most` requests, pending and rejected ones. */
async function findNewest(sql: Sql, account: AccountId, most: number): Promise<Newest> {
  const [row] = await sql<{ pending_after: number; rejected_after: number }>`
    SELECT COALESCE((
      SELECT id FROM friendships WHERE recipient_id = ${account} AND status = 'pending' AND NOT EXISTS (
        SELECT 1 FROM blocks WHERE blocker_id = ${account} AND blocked_id = requester_id)
      ORDER BY id DESC LIMIT 1 OFFSET ${most}
    ), 0) AS pending_after, COALESCE((
      SELECT id FROM friendships WHERE recipient_id = ${account} AND status = 'rejected'
      ORDER BY id DESC LIMIT 1 OFFSET ${most}
    ), 0) AS rejected_after`
  return row ? { pendingAfter: row.pending_after, rejectedAfter: row.rejected_after } : ALL
}

function profileOf(row: FriendRow, direction: FriendProfile['direction']): FriendProfile {
  return {
    friendship_id: row.id,
    alias_id: row.alias_id,
    nickname: row.nickname,
    status: direction === 'sent' && row.status === 'rejected' ? 'pending' : row.status,
    direction,
    conversation_id: row.conv_id ?? '',
    x25519_public_key: row.x25519_public_key,
    ed25519_public_key: row.ed25519_public_key,
    created_at: new Date(row.created_at).toISOString(),
  }
}

/** The accounts that an account has blocked. */
export async function listBlocks(sql: Sql, account: AccountId) {
  const rows = await sql<{ alias_id: AliasId; nickname: string; created_at: number }>`
    SELECT accounts.alias_id, accounts.nickname, blocks.created_at FROM blocks
    JOIN accounts ON accounts.id = blocks.blocked_id AND accounts.deleted_at IS NULL
    WHERE blocks.blocker_id = ${account} ORDER BY blocks.created_at, accounts.alias_id`
  return rows.map(({ created_at, ...row }) => ({ ...row, created_at: new Date(created_at).toISOString() }))
}
