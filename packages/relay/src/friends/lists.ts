// Reads an account's friend list and block list, as the account may see them.
import type { AliasId, ConversationId, FriendProfile, FriendshipStatus } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'

interface FriendRow {
  id: number
  requester_id: AccountId
  status: FriendshipStatus
  created_at: number
  alias_id: AliasId
  nickname: string
  x25519_public_key: string
  ed25519_public_key: string
  conv_id: ConversationId | null
}

/**
 * An account's friends and requests. A requester sees a rejected request as pending. Blocked accounts are not
 * listed.
 */
export async function listFriends(sql: Sql, account: AccountId): Promise<FriendProfile[]> {
  const rows = await sql<FriendRow>`
    SELECT friendships.id, friendships.requester_id, friendships.status, friendships.created_at, peer.alias_id,
      peer.nickname, peer.x25519_public_key, peer.ed25519_public_key, conversations.conv_id
    FROM friendships
    JOIN accounts AS peer ON peer.id = CASE WHEN friendships.requester_id = ${account}
      THEN friendships.recipient_id ELSE friendships.requester_id END AND peer.deleted_at IS NULL
    LEFT JOIN conversations ON conversations.low_id = friendships.low_id
      AND conversations.high_id = friendships.high_id AND friendships.status = 'accepted'
    WHERE (friendships.requester_id = ${account} OR friendships.recipient_id = ${account})
      AND friendships.status <> 'withdrawn'
      AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.blocker_id = ${account} AND blocks.blocked_id = peer.id)
    ORDER BY friendships.id`
  return rows.map((row) => {
    const isSent = row.requester_id === account
    return {
      friendship_id: row.id,
      alias_id: row.alias_id,
      nickname: row.nickname,
      status: isSent && row.status === 'rejected' ? 'pending' : row.status,
      direction: isSent ? 'sent' : 'received',
      conversation_id: row.conv_id ?? '',
      x25519_public_key: row.x25519_public_key,
      ed25519_public_key: row.ed25519_public_key,
      created_at: new Date(row.created_at).toISOString(),
    }
  })
}

/** The accounts that an account has blocked. */
export async function listBlocks(sql: Sql, account: AccountId) {
  const rows = await sql<{ alias_id: AliasId; nickname: string; created_at: number }>`
    SELECT accounts.alias_id, accounts.nickname, blocks.created_at FROM blocks
    JOIN accounts ON accounts.id = blocks.blocked_id AND accounts.deleted_at IS NULL
    WHERE blocks.blocker_id = ${account} ORDER BY blocks.created_at, accounts.alias_id`
  return rows.map(({ created_at, ...row }) => ({ ...row, created_at: new Date(created_at).toISOString() }))
}
