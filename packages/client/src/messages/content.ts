// Converts a message's content between the text form that is stored and the parts that an application shows.
import {
  bareMediaKey,
  CryptoError,
  decodeContent,
  encodeContent,
  isMediaKey,
  type MessageContent,
  type OutgoingContent,
} from '@sotto/crypto'
import { cleanName, PAYLOAD_CHARACTERS } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { StoredMessage } from '../stores/stores.ts'

/** As Base64 with nonce and tag, the longest plaintext of version 1 is as long as a payload may be. */
const MOST_BYTES = (PAYLOAD_CHARACTERS / 4) * 3 - 12 - 16

type DetailName =
  | 'width'
  | 'height'
  | 'sizeBytes'
  | 'thumbnail'
  | 'durationMs'
  | 'waveform'
  | 'previewKey'
  | 'words'

/** What only version 3 has a place for. */
interface SecretParts {
  readonly words?: string
  readonly previewKey?: string
}

/** The fields of a stored message that follow from its content. */
export type ContentFields = Pick<StoredMessage, 'text' | 'msgType' | 'mediaUrl' | 'caption' | DetailName>

/**
 * The text form, the kind and the details of a content, as they are stored. A file's name is cleaned, and is
 * its caption.
 */
export function fieldsOf(content: MessageContent): ContentFields {
  if (content.kind === 'text') return { text: content.text, msgType: 'text' }
  const { kind: msgType, mediaKey: mediaUrl, replyToId: _, ...details } = content
  if (content.kind === 'image') return { text: `[img]${mediaUrl}`, msgType, mediaUrl, ...details }
  if (content.kind === 'voice')
    return { text: `[voice]${mediaUrl}|${content.durationMs}`, msgType, mediaUrl, ...details }
  const { sizeBytes } = content
  const caption = cleanFileName(content.name)
  return { text: `[file]${mediaUrl}|${caption}|${sizeBytes}`, msgType, mediaUrl, caption, sizeBytes }
}

/**
 * The content of a stored message in parts: its text, or the media key (with its digest, if it has one) and
 * what the sender says of the media: a file's name and size, an image's dimensions and thumbnail, the words
 * beside them, the length and waveform of a voice message. Undefined for a retracted, `undecryptable` or
 * `unknown` message. All of these are the sender's claims. A name is on one line, without control,
 * bidirectional and invisible characters.
 */
export function contentOf(message: StoredMessage): MessageContent | undefined {
  if (message.retracted || message.msgType === 'undecryptable' || message.msgType === 'unknown')
    return undefined
  const reply = message.replyToId === undefined ? {} : { replyToId: message.replyToId }
  // Text stays literal even if it looks like a media form: a person may type "[img]".
  if (message.msgType === undefined || message.msgType === 'text')
    return { kind: 'text', text: message.text, ...reply }
  const content = decodeContent(message.text)
  const { width, height, sizeBytes, thumbnail, waveform, mediaUrl, previewKey, words } = message
  // With the key of the file, which the text form has no place for.
  const key =
    content.kind === 'text' || mediaUrl === undefined ? {} : { mediaKey: mediaUrl, ...(words && { words }) }
  if (content.kind === 'image')
    return {
      ...content,
      ...key,
      ...(width === undefined || height === undefined ? {} : { width, height }),
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
      ...(thumbnail === undefined ? {} : { thumbnail }),
      ...(previewKey && { previewKey }),
      ...reply,
    }
  if (content.kind === 'voice')
    return { ...content, ...key, ...(waveform === undefined ? {} : { waveform }), ...reply }
  return { ...withCleanName(content), ...key, ...reply }
}

/**
 * An outgoing content: the plaintext to encrypt, and the fields to store.
 * @param announcer the own public key, to announce version 3. A plaintext without room for that does not.
 * @param isForward whether it goes under version 3. Otherwise the key of a file is refused.
 * @throws `INVALID_ARGUMENT`
 */
export function outgoing(
  content: string | OutgoingContent,
  replyToId: string | undefined,
  announcer?: string,
  isForward = false,
): { readonly plaintext: string; readonly fields: ContentFields } {
  const parts: OutgoingContent = typeof content === 'string' ? { text: content } : content
  try {
    const mediaUrl = isForward && 'mediaKey' in parts && typeof parts.mediaKey === 'string' && parts.mediaKey
    const key = mediaUrl && { mediaKey: bareMediaKey(mediaUrl) }
    // These have a place beside the key of a file only. Elsewhere, encoding refuses them.
    const { words = '', previewKey = '', ...rest }: SecretParts & OutgoingContent = parts
    const secret = { ...(words && { words }), ...(previewKey && { previewKey }) }
    const isKeyed =
      typeof words === 'string' &&
      parts.kind !== 'voice' &&
      [mediaUrl, previewKey || mediaUrl].every((each) => isFileKey(each))
    const encode = (as?: string): string =>
      encodeContent({ ...withCleanName(rest), ...key, ...(!isKeyed && secret), replyToId }, { announcer: as })
    const announced = encode(announcer)
    const plaintext = announcer && utf8Length(announced) > MOST_BYTES ? encode() : announced
    return {
      // Of what goes under version 3, only the length matters.
      plaintext: isKeyed ? plaintext + words + previewKey : plaintext,
      fields: {
        ...fieldsOf(decodeContent(plaintext)),
        ...(mediaUrl && { mediaUrl }),
        ...(isKeyed && secret),
      },
    }
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    throw new ClientError('INVALID_ARGUMENT', error.message, { cause: error })
  }
}

/**
 * About how many more bytes of UTF-8 a message may have. What a reply adds to the text counts, too. Below
 * zero if `send` would refuse it with `MESSAGE_TOO_LARGE`. @throws ClientError `INVALID_ARGUMENT`
 */
export function bytesLeftIn(text: string, { replyToId }: { readonly replyToId?: string } = {}): number {
  return MOST_BYTES - utf8Length(outgoing(text, replyToId).plaintext)
}

/** Whether it is a media key with the key of the file behind it. */
function isFileKey(mediaKey: unknown): boolean {
  return typeof mediaKey === 'string' && !isMediaKey(mediaKey) && isMediaKey(bareMediaKey(mediaKey))
}

// Only clients see the name of a file: the relay has it in encrypted form.
function withCleanName<C extends OutgoingContent | MessageContent>(content: C): C {
  // An application in JavaScript can pass a name that is no text, which encoding refuses.
  if (content.kind !== 'file' || typeof content.name !== 'string') return content
  return { ...content, name: cleanFileName(content.name) }
}

function cleanFileName(name: string): string {
  return cleanName(name) || 'file'
}

/** The bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}
