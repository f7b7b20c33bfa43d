// Messages as a text for the clipboard.
import { contentOf, type StoredMessage } from '@sotto/client'
import { dateAndTime } from '../../texts/dates.ts'
import type { en } from '../../texts/en/en.ts'
import { wordsOf } from '../chats/preview.ts'

/** The text of a message; undefined if it is something else, or gone. */
function textOf(message: StoredMessage): string | undefined {
  const content = contentOf(message)
  return content?.kind === 'text' ? content.text : undefined
}

/** One message is its text alone. Several have the time and the name before each. */
export function transcriptOf(messages: readonly StoredMessage[], name: string, t: typeof en): string {
  const said = (message: StoredMessage): string => textOf(message) ?? wordsOf(message, t.chats)
  const [first, ...others] = messages
  if (first && others.length === 0) return said(first)
  return messages
    .map((each) => `[${dateAndTime(each.time)}] ${each.isMe ? t.conversation.you : name}: ${said(each)}`)
    .join('\n')
}
