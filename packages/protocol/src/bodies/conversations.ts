// Replies about conversations.
import * as v from 'valibot'
import { AliasId, ConversationId, Seq } from '../ids.ts'

/** A conversation that the account can write in, as listed by `/conversations/active`. */
export const ActiveConversation = v.object({
  conv_id: ConversationId,
  alias_id: AliasId,
  last_seq: v.union([Seq, v.literal(0)]),
})
export const ActiveConversationsReply = v.object({ conversations: v.array(ActiveConversation) })
