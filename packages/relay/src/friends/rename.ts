// The hints to friends when an account changes its alias. A hint makes a client read its friend list again.
import { type AliasId, type ConversationId, encodeFrame } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'

/** A frame for one account. */
export interface FrameFor {
  readonly account: AccountId
  readonly frame: string
}

/** The hints for an account's friends. Ring them after the transaction has committed. */
export async function renameFrames(sql: Sql, account: AccountId, alias: AliasId): Promise<FrameFor[]> {
  const friends = await sql<{ id: number; peer: AccountId; conv_id: ConversationId }>`
    SELECT friendships.id, conversations.conv_id,
      CASE WHEN friendships.low_id = ${account} THEN friendships.high_id ELSE friendships.low_id END AS peer
    FROM friendships JOIN conversations ON conversations.low_id = friendships.low_id
      AND conversations.high_id = friendships.high_id
    WHERE (requester_id = ${account} OR recipient_id = ${account}) AND status = 'accepted'`
  return friends.map(({ id: friendship_id, peer, conv_id }) => ({
    account: peer,
    frame: encodeFrame({ type: 'friend_accepted', friendship_id, from: alias, conv_id }),
  }))
}
