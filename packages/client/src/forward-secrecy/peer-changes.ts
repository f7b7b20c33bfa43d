// What the contact changes of messages that are stored: its edits, its deletions, and its reactions.
import type { SecretDeletion, SecretEdit, SecretReaction } from '@sotto/crypto/version-3'
import type { ConversationId } from '@sotto/protocol'
import { takesEdit } from '../messages/messages.ts'
import { type MessagePatch, patched, type StoredMessage } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import { isReaction, reactionBy, withReaction } from './reactions.ts'
import type { Recorded } from './running-course.ts'

type Context = Pick<ForwardContext, 'emitter' | 'platform' | 'store'> & {
  readonly conversationId: ConversationId
}
/** A content that changes a message. */
export type PeerChange = SecretDeletion | SecretEdit | SecretReaction

const RETRACTED = { text: '', retracted: true } as const
const EVENTS = { deletion: 'retracted', edit: 'edited', reaction: 'reacted' } as const

/**
 * What becomes of the message that a content of the contact names; undefined if nothing does. Only the
 * contact's own messages are edited and deleted. An earlier change after a later one, and a repeated one, do
 * nothing.
 */
export async function changeByPeer(context: Context, content: PeerChange): Promise<Recorded | undefined> {
  const { store, conversationId, emitter, platform } = context
  const isMe = content.kind === 'reaction' && !content.isOwn
  const message = await store.findMessage(conversationId, isMe, content.messageId)
  const patch =
    message && !message.retracted && !message.removed
      ? patchOf(message, content, platform.clock.now())
      : undefined
  if (!message || !patch) return undefined
  const { id } = message
  const changed = patched(message, patch)
  return {
    changes: [{ change: 'message_patch', conversationId, isMe, id, patch }],
    after: () => emitter.emit(EVENTS[content.kind], changed),
  }
}

function patchOf(message: StoredMessage, content: PeerChange, now: number): MessagePatch | undefined {
  switch (content.kind) {
    case 'deletion':
      return RETRACTED
    case 'edit': {
      const { text, at } = content
      return takesEdit(message, now) && at > (message.editedAt ?? 0) ? { text, editedAt: at } : undefined
    }
    case 'reaction': {
      const { reaction, at } = content
      if (at <= (reactionBy(false, message)?.at ?? 0)) return undefined
      if (reaction === undefined) return { reactions: withReaction(message, { isMe: false, at }) }
      if (!isReaction(reaction)) return undefined
      return { reactions: withReaction(message, { isMe: false, at, text: reaction }) }
    }
    default:
      return content satisfies never
  }
}
