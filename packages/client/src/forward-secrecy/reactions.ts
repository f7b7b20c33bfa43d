// Reactions to messages: one for each account and message.
import type { MessageReaction, StoredMessage } from '../stores/stores.ts'

const MAX_BYTES = 64
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u

/** Whether a text is one emoji: one character as people count them, of at most 64 bytes. */
export function isReaction(text: string): boolean {
  if (new TextEncoder().encode(text).length > MAX_BYTES || !EMOJI.test(text)) return false
  return [...new Intl.Segmenter().segment(text)].length === 1
}

/** The last reaction of an account to a message, also one that was taken back. */
export function reactionBy(isMe: boolean, { reactions }: StoredMessage): MessageReaction | undefined {
  return reactions?.find((each) => each.isMe === isMe)
}

/** The reactions to a message once an account has reacted. */
export function withReaction(message: StoredMessage, reaction: MessageReaction): MessageReaction[] {
  const others = message.reactions?.filter(({ isMe }) => isMe !== reaction.isMe) ?? []
  return [...others, reaction]
}
