// The hints to friends when an account changes its alias. A hint makes a client read its friend list again.
import { type AliasId, type ConversationId, encodeFrame } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import { type AccountId, part, query, type Sql, type SqlPart, type Storage } from '../storage/storage.ts'

/** How many friends are told in one turn of the event loop. */
const FRIENDS_PER_TURN = 200

interface Friend {
  id: number
  peer: AccountId
  conv_id: ConversationId
}

/** The columns of an account and of its friend. */
interface Side {
  readonly own: SqlPart
  readonly peer: SqlPart
}
// One query for each side, because each has its own index.
const SIDES: readonly Side[] = [
  { own: part`requester_id`, peer: part`recipient_id` },
  { own: part`recipient_id`, peer: part`requester_id` },
]

/**
 * Tells an account's friends its new alias. Call this after the transaction has committed. Hints are not
 * stored: friends who are not connected, or are told nothing because the relay stops, read the friend list
 * when they connect.
 */
export async function tellFriends(
  account: AccountId,
  alias: AliasId,
  { storage, bus }: { storage: Storage; bus: Bus },
): Promise<void> {
  for (const side of SIDES) {
    let after: number | undefined = 0
    while (after !== undefined) {
      const friends: Friend[] = await friendsAfter(storage.sql, side, account, after)
      for (const { id: friendship_id, peer, conv_id } of friends) {
        const frame = encodeFrame({ type: 'friend_accepted', friendship_id, from: alias, conv_id })
        bus.ring(peer, { kind: 'frame', frame })
      }
      after = friends.length < FRIENDS_PER_TURN ? undefined : friends.at(-1)?.id
      await new Promise((resolve) => setImmediate(resolve)) // Lets other work run first.
    }
  }
}

function friendsAfter(sql: Sql, { own, peer }: Side, account: AccountId, after: number): Promise<Friend[]> {
  return sql<Friend>(
    ...query`
    SELECT friendships.id, conversations.conv_id, ${peer} AS peer FROM friendships
    JOIN conversations ON conversations.low_id = friendships.low_id AND conversations.high_id = friendships.high_id
    WHERE ${own} = ${account} AND friendships.id > ${after} AND status = 'accepted'
    ORDER BY friendships.id LIMIT ${FRIENDS_PER_TURN}`,
  )
}
