// Formats messages as lines: time, mark, number, author, text.
import { contentOf, type StoredMessage } from '@sotto/client'
import { sanitizeLine, sanitizeText } from '../sanitize.ts'
import type { MarkedLine } from './terminal.ts'
import { sizeText } from './transfers.ts'

type Status = StoredMessage['status']

const MARKS: Record<Status, string> = { sending: '…', sent: '✓', delivered: '✓✓', read: '✓✓', failed: '✗' }
const WORDS: Record<Status, string> = {
  sending: 'sending',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'failed',
}
const BLUE = '\u001b[94m'
const RED = '\u001b[91m'
const PLAIN = '\u001b[0m'

/** Formats lines with colours, or with words if the terminal has no colours. */
export class Transcript {
  readonly #hasColour: boolean

  constructor(hasColour: boolean) {
    this.#hasColour = hasColour
  }

  /** A status mark of fixed width, so that one mark can replace another. */
  mark(status: Status): string {
    if (!this.#hasColour) return (status === 'read' ? 'read' : MARKS[status]).padEnd(4)
    const text = MARKS[status].padEnd(2)
    if (status === 'read') return `${BLUE}${text}${PLAIN}`
    return status === 'failed' ? `${RED}${text}${PLAIN}` : text
  }

  /** A status as a word. */
  word(status: Status): string {
    return WORDS[status]
  }

  /** A message as a line. Commands refer to it by `number`; `quoted` is the message it answers. */
  line(
    message: StoredMessage,
    number: number,
    author: string,
    quoted: StoredMessage | undefined,
  ): MarkedLine {
    const mark = message.isMe ? this.mark(message.status) : ' '.repeat(this.#hasColour ? 2 : 4)
    return {
      key: keyOf(message),
      beforeMark: `${clockTime(message.time)} `,
      mark,
      afterMark: ` #${number} ${author}: ${quoted ? `↪ “${quoteOf(quoted)}” ` : ''}${body(message)}`,
    }
  }
}

/** A key that is unique among the messages of both sides. */
export function keyOf(message: StoredMessage): string {
  return `${message.isMe ? 'me' : 'them'} ${message.conversationId} ${message.id}`
}

// A quote of a message that was taken back is short, so that it fits in the place of the text.
function quoteOf(message: StoredMessage): string {
  return message.retracted ? '…' : sanitizeLine(describe(message), 24)
}

/** A short description of a message's content; of a text, the text. */
export function describe(message: StoredMessage): string {
  if (message.retracted) return '(taken back)'
  if (message.msgType === 'unknown') return '(this message needs a later version of sotto)'
  const content = contentOf(message)
  if (!content) return '(this message could not be decrypted)'
  switch (content.kind) {
    case 'image':
      return `(an image)${wordsAfter(content)}`
    case 'file':
      return `(a file: ${content.name}, ${sizeText(content.sizeBytes)})${wordsAfter(content)}`
    case 'voice':
      return `(a voice message of ${Math.round(content.durationMs / 1000)} s)`
    default:
      return content.text
  }
}

function wordsAfter({ words }: { readonly words?: string }): string {
  return words === undefined ? '' : ` ${words}`
}

// Lines after the first are indented, so that none of them looks like a separate message.
function body(message: StoredMessage): string {
  const text = sanitizeText(describe(message)).split('\n').join('\n      │ ')
  return [text, ...changesOf(message)].join(' ')
}

function changesOf({ editedAt, reactions = [], retracted }: StoredMessage): string[] {
  if (retracted) return []
  const emoji = reactions.flatMap(({ text }) => text ?? []).map((text) => sanitizeLine(text))
  return [
    ...(editedAt === undefined ? [] : ['(edited)']),
    ...(emoji.length > 0 ? [`[${emoji.join(' ')}]`] : []),
  ]
}

/** Local hours and minutes, preceded by the date unless it is today. */
export function clockTime(ms: number, now = Date.now()): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return '--:--'
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`
  if (date.toDateString() === new Date(now).toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
