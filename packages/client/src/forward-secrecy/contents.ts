// The content of a version 3 message, to and from what is stored of it.
import { CryptoError, decodeContent, encodeContent } from '@sotto/crypto'
import { decodeSecretContent, encodeSecretContent, type SecretContent } from '@sotto/crypto/version-3'
import { contentOf, fieldsOf } from '../messages/content.ts'
import type { StoredMessage } from '../stores/stores.ts'

/**
 * The encoded content of a stored message; undefined for a retracted one. Text, replies and media have
 * the form that they have under version 1.
 */
export function encodeMessage(message: StoredMessage): Uint8Array | undefined {
  const content = contentOf(message)
  if (!content) return undefined
  const { replyToId, ...parts } = content
  const plain = parts.kind === 'text' ? { text: parts.text } : parts
  return encodeSecretContent({ kind: 'text', text: encodeContent({ ...plain, replyToId }) })
}

/** The encoded deletion of an own message. */
export function encodeDeletion(messageId: string): Uint8Array {
  return encodeSecretContent({ kind: 'deletion', messageId })
}

/** The fields of a message that is shown. */
export type ShownFields = ReturnType<typeof fieldsOf> & Pick<StoredMessage, 'replyToId'>

/** What a body says: a message to show, a deletion, or something that this version does not know. */
export type ReadBody =
  | { readonly kind: 'message'; readonly fields: ShownFields }
  | { readonly kind: 'deletion'; readonly messageId: string }
  | { readonly kind: 'unknown' }

/** Reads a body. What is no content, which only a faulty client sends, is unknown. */
export function readBody(body: Uint8Array): ReadBody {
  const content = decodeOrUnknown(body)
  if (content.kind === 'deletion') return { kind: 'deletion', messageId: content.messageId }
  if (content.kind !== 'text') return { kind: 'unknown' }
  const read = decodeContent(content.text)
  const replyToId = read.replyToId
  return { kind: 'message', fields: { ...fieldsOf(read), ...(replyToId === undefined ? {} : { replyToId }) } }
}

function decodeOrUnknown(body: Uint8Array): SecretContent {
  try {
    return decodeSecretContent(body)
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'INVALID_ENCODING')
      return { kind: 'unknown', bytes: body }
    throw error
  }
}
