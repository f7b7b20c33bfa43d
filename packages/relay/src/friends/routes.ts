// The endpoints of friendship and blocks.
import { type AliasId, encodeFrame, FRIENDS_PER_PAGE, type Limits, ProtocolError } from '@sotto/protocol'
import { findAccount, findAccountByAlias } from '../accounts/accounts.ts'
import type { Bus } from '../cluster/bus.ts'
import type { Handlers } from '../listener/route.ts'
import type { FriendListReplies } from '../messages/messages.ts'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import {
  acceptFriendship,
  blockAccount,
  rejectFriendship,
  removeFriendship,
  requestFriendship,
  type Transition,
} from './friendships.ts'
import { listBlocks, listFriends, pageOfFriends } from './lists.ts'

export interface FriendParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly friendListReplies: FriendListReplies
}

type Names =
  | 'listFriends'
  | 'requestFriend'
  | 'acceptFriend'
  | 'rejectFriend'
  | 'removeFriend'
  | 'block'
  | 'unblock'
  | 'listBlocks'

export function friendRoutes(parts: FriendParts): Handlers<Names> {
  const { storage, bus } = parts

  // A hint may get lost; only the friend list counts. Nothing is awaited between the commit and the hint, so
  // the hint is sent before the first message of the conversation.
  const sendHint = (by: AliasId, { hint, friendshipId, conversation }: Transition): void => {
    if (!hint) return
    const fields = { friendship_id: friendshipId, from: by }
    const frame =
      hint.type === 'friend_request'
        ? encodeFrame({ type: 'friend_request', ...fields })
        : encodeFrame({
            type: 'friend_accepted',
            ...fields,
            ...(conversation ? { conv_id: conversation } : {}),
          })
    bus.ring(hint.to, { kind: 'frame', frame })
  }

  return {
    listFriends: async ({ caller, query: { after, limit }, signal }) => {
      const list =
        after === undefined && limit === undefined
          ? await listFriends(storage.sql, caller.id, parts.limits)
          : await pageOfFriends(storage.sql, caller.id, {
              after: after ?? 0,
              limit: limit ?? FRIENDS_PER_PAGE,
            })
      const conversations = list.flatMap(({ conversation_id }) => conversation_id || [])
      await parts.friendListReplies.leaving(caller.id, conversations, signal)
      return list
    },

    requestFriend: async ({ caller, body }) => {
      const { transition, alias } = await storage.transaction(async (sql) => {
        const recipient = await getByAlias(sql, body.to_alias_id)
        const done = await requestFriendship(sql, { requester: caller.id, recipient }, parts)
        return { transition: done, alias: await getAlias(sql, caller.id) }
      })
      sendHint(alias, transition)
      return { friendship_id: transition.friendshipId, status: transition.status }
    },

    acceptFriend: async ({ caller, params }) => {
      const { transition, alias } = await storage.transaction(async (sql) => {
        const done = await acceptFriendship(sql, { id: params.id, recipient: caller.id }, parts)
        return { transition: done, alias: await getAlias(sql, caller.id) }
      })
      sendHint(alias, transition)
      if (!transition.conversation) throw new Error('an accepted friendship without a conversation')
      return { friendship_id: transition.friendshipId, conversation_id: transition.conversation }
    },

    rejectFriend: ({ caller, params }) =>
      storage.transaction(async (sql) => {
        await rejectFriendship(sql, { id: params.id, recipient: caller.id }, parts)
        return undefined
      }),

    removeFriend: ({ caller, params }) =>
      storage.transaction(async (sql) => {
        await removeFriendship(sql, { id: params.id, side: caller.id }, parts)
        return undefined
      }),

    block: ({ caller, params }) =>
      storage.transaction(async (sql) => {
        const blocked = await getByAlias(sql, params.alias_id)
        await blockAccount(sql, { blocker: caller.id, blocked }, parts)
        return undefined
      }),

    // Answers the same for an alias that does not exist: only what counts as a lookup tells what exists. A
    // former alias of the blocked account counts too, since the caller may know only that one.
    unblock: ({ caller, params }) =>
      storage.transaction(async (sql) => {
        await sql`
          DELETE FROM blocks WHERE blocker_id = ${caller.id} AND blocked_id IN (
            SELECT account_id FROM aliases WHERE alias_id = ${params.alias_id})`
        return undefined
      }),

    listBlocks: ({ caller }) => listBlocks(storage.sql, caller.id),
  }
}

async function getByAlias(sql: Sql, alias: AliasId): Promise<AccountId> {
  const account = await findAccountByAlias(sql, alias)
  if (!account) throw new ProtocolError('NOT_FOUND')
  return account.id
}

async function getAlias(sql: Sql, account: AccountId): Promise<AliasId> {
  const found = await findAccount(sql, account)
  if (!found) throw new ProtocolError('TOKEN_DEAD') // Deleted since the token was checked.
  return found.alias_id
}
