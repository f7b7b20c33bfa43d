// Where messages are set apart: by day, by the unread line, and by who wrote when.
import type { StoredMessage } from '@sotto/client'
import { isSameDay } from '../../texts/dates.ts'

/** Messages of one person within this time form a group. */
const GROUP_MS = 5 * 60_000

/** What stands above a message. */
export interface Place {
  /** The first message of its day. */
  readonly isNewDay: boolean
  /** The first message that was unread when the conversation was opened. */
  readonly isFirstUnread: boolean
  /** The first message of its group. */
  readonly isFirst: boolean
}

/** What stands above a message, by the one before it. */
export function placeOf(
  before: StoredMessage | undefined,
  message: StoredMessage,
  unreadSeq: number | undefined,
): Place {
  const isNewDay = !before || !isSameDay(before.time, message.time)
  const isFirstUnread =
    unreadSeq !== undefined && (message.seq ?? 0) >= unreadSeq && (before?.seq ?? 0) < unreadSeq
  const isGroup = before?.isMe === message.isMe && message.time - before.time < GROUP_MS
  return { isNewDay, isFirstUnread, isFirst: isNewDay || isFirstUnread || !isGroup }
}

/** Names a message in a list. Each side has ids of its own. */
export function keyOf(message: StoredMessage): string {
  return `${message.isMe ? 'me' : 'them'} ${message.id}`
}

/** About how high a message is, in pixels, before it is drawn and measured. */
export function estimatedHeight({ text, msgType, replyToId }: StoredMessage, widthPx: number): number {
  if (msgType === 'image') return 240
  const inLine = Math.max(20, Math.min(65, (widthPx * 0.7) / 8))
  const lines = text
    .slice(0, 1200)
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / inLine)), 0)
  return 18 + Math.min(lines, 24) * 22 + (replyToId === undefined ? 0 : 52)
}
