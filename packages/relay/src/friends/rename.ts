// The hints to friends when an account changes its alias. A hint makes a client read its friend list again.
import { type AliasId, type ConversationId, encodeFrame } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'

/** How many friends are told in one turn of the event loop. */
const FRIENDS_PER_TURN = 200

interface Friend {
  id: number
  peer: AccountId
  conv_id: ConversationId
}

/**
 * Tells an account's friends its new alias. Call this after the transaction has committed. Hints are not
 * stored: whoever is not connected, or is told nothing because the relay stops, reads the friend list when
 * connecting.
 */
export async function tellFriends(
  account: AccountId,
  alias: AliasId,
  { storage, bus }: { storage: Storage; bus: Bus },
): Promise<void> {
  for (const friendsAfter of [requestedBy, acceptedBy]) {
    let after: number | undefined = 0
    while (after !== undefined) {
      const friends: Friend[] = await friendsAfter(storage.sql, account, after)
      for (const { id: friendship_id, peer, conv_id } of friends) {
        const frame = encodeFrame({ type: 'friend_accepted', friendship_id, from: alias, conv_id })
        bus.ring(peer, { kind: 'frame', frame })
      }
      after = friends.length < FRIENDS_PER_TURN ? undefined : friends.at(-1)?.id
      await new Promise((resolve) => setImmediate(resolve)) // Lets other work run first.
    }
  }
}

// One query for each side, because each has its own index.
function requestedBy(sql: Sql, account: AccountId, after: number): Promise<Friend[]> {
  return sql<Friend>`
    SELECT friendships.id, conversations.conv_id, recipient_id AS peer FROM friendships
    JOIN conversations ON conversations.low_id = friendships.low_id AND conversations.high_id = friendships.high_id
    WHERE requester_id = ${account} AND friendships.id > ${after} AND status = 'accepted'
    ORDER BY friendships.id LIMIT ${FRIENDS_PER_TURN}`
}

function acceptedBy(sql: Sql, account: AccountId, after: number): Promise<Friend[]> {
  return sql<Friend>`
    SELECT friendships.id, conversations.conv_id, requester_id AS peer FROM friendships
    JOIN conversations ON conversations.low_id = friendships.low_id AND conversations.high_id = friendships.high_id
    WHERE recipient_id = ${account} AND friendships.id > ${after} AND status = 'accepted'
    ORDER BY friendships.id LIMIT ${FRIENDS_PER_TURN}`
}
