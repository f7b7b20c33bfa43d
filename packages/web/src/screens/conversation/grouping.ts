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

// What conversation.css gives a message: paddings, and lines of 15 and 13 px, in pixels.
const LINE_PX = 22
const TIME_LINE_PX = 17
const HEADING_PX = 19 + 24
/** Reactions are a line of their own. */
const REACTIONS_PX = 32
const CHARACTER_PX = 7.1
/** Characters of East Asian scripts, which are about twice as wide. */
const WIDE = /[\u1100-\u115f\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]/g
/** What stands beside the last line: the time, and for one's own messages the mark. */
const TIME_PX = { theirs: 62, own: 82 }
/** The word for an edited one, before the time. */
const EDITED_PX = 42

/**
 * About how high a row is, in pixels, before it is drawn and measured. Most are one line, for which it is
 * exact: nothing has to be moved then when they are measured.
 * @param widthPx how wide the list is
 */
export function estimatedHeight(message: StoredMessage, place: Place, widthPx: number): number {
  const { text, words, msgType, replyToId, isMe, editedAt, reactions } = message
  const headings = Number(place.isNewDay) + Number(place.isFirstUnread)
  const above = (place.isFirst ? 8 : 2) + headings * HEADING_PX
  if (msgType === 'image' && words === undefined) return Math.round(240 + above)
  // At most 65ch or 78% of the row.
  const roomPx = Math.min(542, (widthPx - 32) * 0.78) - 24
  const inLine = Math.max(20, roomPx / CHARACTER_PX)
  const shown = (words ?? text).slice(0, 1200).replace(WIDE, 'ww')
  const lines = shown.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / inLine)), 0)
  const timePx = (isMe ? TIME_PX.own : TIME_PX.theirs) + (editedAt === undefined ? 0 : EDITED_PX)
  const isTimeBeside = words === undefined && lines === 1 && shown.length * CHARACTER_PX + timePx <= roomPx
  const fixedPx = words === undefined ? 14 : msgType === 'image' ? 223 : 62
  const heightPx = fixedPx + Math.min(lines, 24) * LINE_PX + (isTimeBeside ? 0 : TIME_LINE_PX)
  const reactionsPx = reactions?.some((each) => each.text !== undefined) ? REACTIONS_PX : 0
  return Math.round(above + heightPx + reactionsPx + (replyToId === undefined ? 0 : 52))
}
