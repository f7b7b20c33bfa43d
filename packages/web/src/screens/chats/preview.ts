// A message in a few words, for a list.
import { contentOf, type StoredMessage } from '@sotto/client'
import type { chats } from '../../texts/en/chats.ts'

/** One line that says what a message is. */
export function previewOf(message: StoredMessage | undefined, t: typeof chats): string {
  if (!message) return t.nothing
  const said = wordsOf(message, t)
  return message.isMe ? `${t.you} ${said}` : said
}

/** What a message says, without who wrote it. */
export function wordsOf(message: StoredMessage, t: typeof chats): string {
  if (message.retracted) return t.retracted
  const content = contentOf(message)
  switch (content?.kind) {
    case undefined:
      return message.msgType === 'unknown' ? t.needsNewer : t.undecryptable
    case 'text':
      return content.text.slice(0, 200)
    case 'image':
      return t.image
    case 'file':
      return `${t.file}: ${content.name}`
    case 'voice':
      return t.voice
    default:
      return content satisfies never
  }
}
