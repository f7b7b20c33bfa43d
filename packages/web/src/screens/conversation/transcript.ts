// Messages as a text for the clipboard.
import type { StoredMessage } from '@sotto/client'
import { dateAndTime } from '../../texts/dates.ts'
import type { en } from '../../texts/en/en.ts'
import { wordsOf, writtenIn } from '../chats/preview.ts'

/** One message is what was written in it alone. Several have the time and the name before each. */
export function transcriptOf(messages: readonly StoredMessage[], name: string, t: typeof en): string {
  const said = (message: StoredMessage): string => wordsOf(message, t.chats, Number.POSITIVE_INFINITY)
  const [first, ...others] = messages
  if (first && others.length === 0) return writtenIn(first) ?? said(first)
  return messages
    .map((each) => `[${dateAndTime(each.time)}] ${each.isMe ? t.conversation.you : name}: ${said(each)}`)
    .join('\n')
}
