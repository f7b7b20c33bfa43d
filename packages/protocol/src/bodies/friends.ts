// Bodies and replies of friendship and blocks.
import * as v from 'valibot'
import { AliasId, ConversationId, FriendshipId, named, PublicKey, ReceivedName, Timestamp } from '../ids.ts'

export const FriendshipStatus = v.picklist(['pending', 'accepted', 'rejected'])
/** The state of a friendship, as one side sees it. */
export type FriendshipStatus = v.InferOutput<typeof FriendshipStatus>

/** One row of a friend list. */
export const FriendProfile = v.pipe(
  v.object({
    friendship_id: FriendshipId,
    alias_id: AliasId,
    nickname: ReceivedName,
    status: FriendshipStatus,
    direction: v.picklist(['sent', 'received']),
    /** `""` until the friendship is accepted. */
    conversation_id: v.union([ConversationId, v.literal('')]),
    x25519_public_key: PublicKey,
    ed25519_public_key: PublicKey,
    created_at: Timestamp,
  }),
  v.transform(named),
)
/** See {@link FriendProfile}. */
export type FriendProfile = v.InferOutput<typeof FriendProfile>

export const FriendList = v.array(FriendProfile)

/** The most rows of one page of a friend list. */
export const FRIENDS_PER_PAGE = 500
export const FriendListQuery = v.object({
  /** Only rows with a higher number. */
  after: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^(?:0|[1-9][0-9]{0,15})$/, 'must be a friendship id or 0'),
      v.transform(Number),
    ),
  ),
  limit: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^(?:[1-9][0-9]?|[1-4][0-9]{2}|500)$/, `must be an integer from 1 to ${FRIENDS_PER_PAGE}`),
      v.transform(Number),
    ),
  ),
})

export const FriendRequestBody = v.object({ to_alias_id: AliasId })
export const FriendRequestReply = v.object({ friendship_id: FriendshipId, status: FriendshipStatus })
export const FriendAcceptReply = v.object({ friendship_id: FriendshipId, conversation_id: ConversationId })

export const FriendPath = v.object({
  id: v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,15}$/, 'must be a friendship id'), v.transform(Number)),
})
export const AliasPath = v.object({ alias_id: AliasId })

export const BlockedAccount = v.pipe(
  v.object({ alias_id: AliasId, nickname: ReceivedName, created_at: Timestamp }),
  v.transform(named),
)
export const BlockList = v.array(BlockedAccount)
