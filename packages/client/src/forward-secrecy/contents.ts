// The content of a version 3 message, to and from what is stored of it.
import {
  CryptoError,
  decodeBase64,
  decodeContent,
  encodeBase64,
  encodeContent,
  parseSealedFile,
} from '@sotto/crypto'
import { decodeSecretContent, encodeSecretContent, type SecretContent } from '@sotto/crypto/version-3'
import { type ConversationId, MessageId } from '@sotto/protocol'
import * as v from 'valibot'
import { contentOf, fieldsOf } from '../messages/content.ts'
import type { AboutMessage, ClientStore, StoredMessage } from '../stores/stores.ts'
import { fileFields, sealedContent } from './file-contents.ts'
import type { PeerChange } from './peer-changes.ts'
import { type ReadProfile, readProfile } from './profile-records.ts'
import { reactionBy } from './reactions.ts'

/**
 * The encoded content of a stored message; undefined if it has none, such as a retracted one, or if it has no
 * form under version 3: then it must not hold up the others.
 */
export function encodeMessage(message: StoredMessage): Uint8Array | undefined {
  try {
    return encodeStored(message)
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

function encodeStored(message: StoredMessage): Uint8Array | undefined {
  // A later version wrote it, on this device or where the archive of its history was made.
  if (message.msgType === 'unknown' && message.content !== undefined) return decodeBase64(message.content)
  const content = contentOf(message)
  if (!content) return undefined
  const { replyToId: original, ...parts } = content
  // Under version 1 any text may stand there, and such a message may go up.
  const replyToId = v.is(MessageId, original) ? original : undefined
  if (parts.kind === 'text')
    return encodeSecretContent({ kind: 'text', text: parts.text, replyToId, at: message.editedAt })
  const file = parseSealedFile(parts.mediaKey)
  if (file) return encodeSecretContent({ ...sealedContent(parts, file), replyToId })
  // The file was encrypted with the key of the conversation, as version 1 does.
  return encodeSecretContent({ kind: 'text_form', text: encodeContent({ ...parts, replyToId }) })
}

/**
 * The encoded content of what changes a message: its deletion, its text or this account's reaction as they
 * are now. Undefined if nothing is left to say, because the message was retracted or removed.
 */
export async function encodeAbout(
  store: Pick<ClientStore, 'findMessage'>,
  conversationId: ConversationId,
  { kind, isMe, id: messageId }: AboutMessage,
): Promise<Uint8Array | undefined> {
  if (kind === 'deletion') return encodeSecretContent({ kind, messageId })
  const message = await store.findMessage(conversationId, isMe, messageId)
  if (!message || message.retracted || message.removed) return undefined
  if (kind === 'edit') {
    const { text, editedAt: at } = message
    return at === undefined ? undefined : encodeSecretContent({ kind, messageId, text, at })
  }
  const reaction = reactionBy(true, message)
  return (
    reaction &&
    encodeSecretContent({ kind, messageId, isOwn: isMe, reaction: reaction.text, at: reaction.at })
  )
}

/** The fields of a message that is shown. */
export type ShownFields = ReturnType<typeof fieldsOf> &
  Pick<StoredMessage, 'replyToId' | 'content' | 'editedAt'>

/** What a body says: a message to show, a change of an earlier one, a profile, or nothing readable. */
export type ReadBody =
  | { readonly kind: 'message'; readonly fields: ShownFields }
  | { readonly kind: 'change'; readonly content: PeerChange }
  | { readonly kind: 'profile'; readonly profile: ReadProfile }
  | { readonly kind: 'unreadable' }

/** Reads a body. A content that a later version knows is shown as `unknown`, and kept. */
export function readBody(body: Uint8Array): ReadBody {
  const content = decodeOrUndefined(body)
  switch (content?.kind) {
    case undefined:
      return { kind: 'unreadable' }
    case 'deletion':
    case 'edit':
    case 'reaction':
      return { kind: 'change', content }
    case 'profile': {
      const profile = readProfile(content)
      return profile ? { kind: 'profile', profile } : shownAsUnknown(body)
    }
    case 'text': {
      const { text, at, replyToId } = content
      return shown({ text, msgType: 'text', ...(at === undefined ? {} : { editedAt: at }) }, replyToId)
    }
    case 'text_form': {
      const read = decodeContent(content.text)
      return shown(fieldsOf(read), read.replyToId)
    }
    case 'attachment':
    case 'voice': {
      const fields = fileFields(content)
      return fields ? shown(fields, content.replyToId) : shownAsUnknown(body)
    }
    default:
      return shownAsUnknown(body)
  }
}

function shownAsUnknown(body: Uint8Array): ReadBody {
  return shown({ text: '', msgType: 'unknown', content: encodeBase64(body) }, undefined)
}

function shown(fields: ShownFields, replyToId: string | undefined): ReadBody {
  return { kind: 'message', fields: { ...fields, ...(replyToId === undefined ? {} : { replyToId }) } }
}

/** Undefined for what no client writes. */
function decodeOrUndefined(body: Uint8Array): SecretContent | undefined {
  try {
    return decodeSecretContent(body)
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'INVALID_ENCODING') return undefined
    throw error
  }
}
