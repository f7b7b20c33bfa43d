// The words in which screen readers are told of new messages, and of what is changed of messages.
import type { Conversation, StoredMessage } from '@sotto/client'
import { changesTexts } from '../texts/changes.ts'
import { texts } from '../texts/texts.ts'
import { previewOf, wordsOf } from './chats/preview.ts'

/** What the client has said of a message. */
export interface Heard {
  readonly event: 'message' | 'edited' | 'reacted'
  readonly message: StoredMessage
}

type Known = Pick<Conversation, 'conversationId' | 'mutedUntil' | 'name' | 'nickname'>

/** What the words depend on. */
interface Surroundings {
  readonly conversations: readonly Known[]
  /** The id of the open conversation, if one is open. */
  readonly opened: string | undefined
  readonly nowMs: number
}

/** All that was heard at the same time, in the user's language; empty if nothing of it is told. */
export function spoken(heard: readonly Heard[], around: Surroundings): string {
  return [messagesIn(heard, around), changesIn(heard, around)].filter((words) => words !== '').join('. ')
}

/** The new messages. Of a muted conversation, they are told only while it is open. */
function messagesIn(heard: readonly Heard[], around: Surroundings): string {
  const { chats, conversation: t } = texts.value
  const isQuiet = (message: StoredMessage): boolean =>
    message.conversationId !== around.opened &&
    (conversationOf(message, around)?.mutedUntil ?? 0) > around.nowMs
  const told = heard.flatMap(({ event, message }) =>
    event === 'message' && !isQuiet(message) ? [message] : [],
  )
  const [first] = told
  if (!first) return ''
  const senders = new Set(told.map(({ conversationId }) => conversationId))
  const conversation = conversationOf(first, around)
  const words = told.length === 1 ? previewOf(first, chats) : t.newMessages(told.length)
  return conversation && senders.size === 1 ? `${t.from(nameOf(conversation))} ${words}` : words
}

/** What the contact has changed in the open conversation. */
function changesIn(heard: readonly Heard[], around: Surroundings): string {
  const told = heard.filter(
    (each) => each.message.conversationId === around.opened && isChangeOfContact(each),
  )
  const [first] = told
  const conversation = first && conversationOf(first.message, around)
  if (!conversation) return ''
  const t = changesTexts.value
  const name = nameOf(conversation)
  if (told.length > 1) return t.heardChanges(name, told.length)
  const words = wordsOf(first.message, texts.value.chats)
  if (first.event === 'edited') return t.heardEdit(name, words)
  const emoji = first.message.reactions?.at(-1)?.text
  return emoji === undefined ? t.heardTakenBack(name, words) : t.heardReaction(name, emoji, words)
}

/** Whether it is the contact who has edited, or reacted. The latest reaction is the last one. */
function isChangeOfContact({ event, message }: Heard): boolean {
  if (event === 'edited') return !message.isMe
  return event === 'reacted' && message.reactions?.at(-1)?.isMe === false
}

function conversationOf({ conversationId: id }: StoredMessage, around: Surroundings): Known | undefined {
  return around.conversations.find(({ conversationId }) => conversationId === id)
}

function nameOf({ name, nickname }: Known): string {
  return name ?? nickname
}
