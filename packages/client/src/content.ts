// What a message says: its text form, as it is stored, and the parts an application shows.
import {
  CryptoError,
  decodeContent,
  encodeContent,
  type MessageContent,
  type OutgoingContent,
} from '@sotto/crypto'
import { ClientError } from './client-error.ts'
import type { StoredMessage } from './stores/records.ts'

/** The fields of a stored message that its content decides. */
export type ContentFields = Pick<StoredMessage, 'text' | 'msgType' | 'mediaUrl' | 'caption'>

/** The text form and kind of a content, as the store keeps them. A file's name is its caption. */
export function fieldsOf(content: MessageContent): ContentFields {
  switch (content.kind) {
    case 'text':
      return { text: content.text, msgType: 'text' }
    case 'image':
      return { text: `[img]${content.mediaKey}`, msgType: 'image', mediaUrl: content.mediaKey }
    case 'file':
      return {
        text: `[file]${content.mediaKey}|${content.name}|${content.sizeBytes}`,
        msgType: 'file',
        mediaUrl: content.mediaKey,
        caption: content.name,
      }
    case 'voice':
      return {
        text: `[voice]${content.mediaKey}|${content.durationMs}`,
        msgType: 'voice',
        mediaUrl: content.mediaKey,
      }
    default:
      return unknownKind(content)
  }
}

/**
 * What a stored message says, in parts: the media key (with its digest, where it has one), a file's name and size, how
 * long a voice message is. Undefined where nothing is left or readable: retracted, or `undecryptable`. What names and sizes
 * say is the sender's claim.
 */
export function contentOf(message: StoredMessage): MessageContent | undefined {
  if (message.retracted || message.msgType === 'undecryptable') return undefined
  const reply = message.replyToId === undefined ? {} : { replyToId: message.replyToId }
  // Text is literal even where it looks like a form: a person may write "[img]" themselves.
  if (message.msgType === undefined || message.msgType === 'text')
    return { kind: 'text', text: message.text, ...reply }
  return { ...decodeContent(message.text), ...reply }
}

/** An outgoing content: the plaintext that is encrypted, and what the store keeps. @throws `INVALID_ARGUMENT` */
export function outgoing(
  content: string | OutgoingContent,
  replyToId: string | undefined,
): { readonly plaintext: string; readonly fields: ContentFields } {
  const parts: OutgoingContent = typeof content === 'string' ? { text: content } : content
  try {
    const plaintext = encodeContent({ ...parts, replyToId })
    return { plaintext, fields: fieldsOf(decodeContent(plaintext)) }
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    throw new ClientError('INVALID_ARGUMENT', error.message, { cause: error })
  }
}

function unknownKind(content: never): never {
  throw new ClientError('BAD_REPLY', `no such kind of content: ${JSON.stringify(content)}`)
}
