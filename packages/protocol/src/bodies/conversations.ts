// Replies about conversations.
import * as v from 'valibot'
import { AliasId, ConversationId, Epoch, MessageId, Payload, Seq } from '../ids.ts'

/** A conversation that the account can write in, as listed by `/conversations/active`. */
export const ActiveConversation = v.object({
  conv_id: ConversationId,
  alias_id: AliasId,
  last_seq: v.union([Seq, v.literal(0)]),
})
export const ActiveConversationsReply = v.object({ conversations: v.array(ActiveConversation) })

export const ConversationPath = v.object({ conv_id: ConversationId })

/** What a device without a state of the conversation joins with. */
export const GroupReply = v.object({
  epoch: Epoch,
  /** Sealed by the sender of the last handshake, for this epoch. Absent if the relay has none. */
  group_info: v.optional(Payload),
  /** The `seq` of the last message of `crypto_v` 3 that this account sent in it. Absent if it sent none. */
  sent_seq: v.optional(Seq),
})

/** What was taken back, the oldest first. Empty if nothing is left. */
export const WithdrawnReply = v.object({ messages: v.array(v.object({ id: MessageId, seq: Seq })) })
