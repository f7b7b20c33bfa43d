// A message in a few words, for a list.
import { contentOf, type StoredMessage } from '@sotto/client'
import type { chats } from '../../texts/en/chats.ts'

/** One line that says what a message is. */
export function previewOf(message: StoredMessage | undefined, t: typeof chats): string {
  if (!message) return t.nothing
  const said = wordsOf(message, t)
  return message.isMe ? `${t.you} ${said}` : said
}

/** What somebody wrote: the text, or the words below an image or a file. Undefined if that is nothing. */
export function writtenIn(message: StoredMessage): string | undefined {
  const content = contentOf(message)
  if (content?.kind === 'text') return content.text
  return content && 'words' in content ? content.words : undefined
}

/** What a message says, without who wrote it: at most so many characters of what somebody wrote. */
export function wordsOf(message: StoredMessage, t: typeof chats, most = 200): string {
  if (message.retracted) return t.retracted
  const content = contentOf(message)
  const written = writtenIn(message)?.slice(0, most)
  const after = written === undefined ? '' : `: ${written}`
  switch (content?.kind) {
    case undefined:
      return message.msgType === 'unknown' ? t.needsNewer : t.undecryptable
    case 'text':
      return written ?? ''
    case 'image':
      return `${t.image}${after}`
    case 'file':
      return `${t.file}: ${content.name}${after}`
    case 'voice':
      return t.voice
    default:
      return content satisfies never
  }
}
