// The content of a decrypted message: text, image, file or voice, in the present and older forms of clients.
import { CryptoError } from './crypto-error.ts'
import { isMediaKey } from './media-key.ts'

/** A text by a person. */
export interface TextContent {
  readonly kind: 'text'
  readonly text: string
  /** The id of the message it answers. */
  readonly replyToId?: string
}

/** An image among the relay's media. */
export interface ImageContent {
  readonly kind: 'image'
  readonly mediaKey: string
  /** Only in received messages, from clients that send JSON. Its form is not checked. */
  readonly thumbnail?: string
  readonly replyToId?: string
}

/**
 * A file among the relay's media. `name` and `sizeBytes` are the sender's claims: never use them as
 * a path or for an allocation.
 */
export interface FileContent {
  readonly kind: 'file'
  readonly mediaKey: string
  readonly name: string
  readonly sizeBytes: number
  readonly replyToId?: string
}

/** A voice message among the relay's media. */
export interface VoiceContent {
  readonly kind: 'voice'
  readonly mediaKey: string
  readonly durationMs: number
  readonly replyToId?: string
}

/** The content of a message's plaintext. */
export type MessageContent = TextContent | ImageContent | FileContent | VoiceContent

/**
 * The argument of `encodeContent`: a content, but `kind` is optional for text and `replyToId` may be
 * undefined.
 */
export type OutgoingContent =
  | { readonly kind?: 'text'; readonly text: string; readonly replyToId?: string | undefined }
  | { readonly kind: 'image'; readonly mediaKey: string; readonly replyToId?: string | undefined }
  | {
      readonly kind: 'file'
      readonly mediaKey: string
      readonly name: string
      readonly sizeBytes: number
      readonly replyToId?: string | undefined
    }
  | {
      readonly kind: 'voice'
      readonly mediaKey: string
      readonly durationMs: number
      readonly replyToId?: string | undefined
    }

type MediaContent = ImageContent | FileContent | VoiceContent

const IMAGE_FORM = /^\[img\](.+)$/s
const FILE_FORM = /^\[file\]([^|]+)\|(.*)\|([0-9]{1,16})$/s
const VOICE_FORM = /^\[voice\]([^|]+)\|([0-9]{1,16})$/s

/**
 * The plaintext of a content. Media become `[img]key`, `[file]key|name|bytes` or `[voice]key|milliseconds`;
 * a reply wraps it as `{"text":…,"replyToId":…}`.
 *
 * `decodeContent` returns every text unchanged. A text that looks like one of the forms is wrapped as
 * `{"text":…}`. If it looks like media, `"type":"text"` is added, which says that `text` is literal.
 *
 * Throws `INVALID_ARGUMENT` for an invalid media key, or a size or duration that is not a whole number from
 * 0.
 */
export function encodeContent(content: OutgoingContent): string {
  const replyToId = content.replyToId === '' ? undefined : content.replyToId
  switch (content.kind) {
    case undefined:
    case 'text':
      return encodeText(content.text, replyToId)
    case 'image':
      return wrapReply(`[img]${checkMediaKey(content.mediaKey)}`, replyToId)
    case 'file': {
      const { mediaKey, name, sizeBytes } = content
      if (typeof name !== 'string') throw new CryptoError('INVALID_ARGUMENT', 'name must be a string')
      return wrapReply(
        `[file]${checkMediaKey(mediaKey)}|${name}|${checkWhole(sizeBytes, 'sizeBytes')}`,
        replyToId,
      )
    }
    case 'voice': {
      const { mediaKey, durationMs } = content
      return wrapReply(`[voice]${checkMediaKey(mediaKey)}|${checkWhole(durationMs, 'durationMs')}`, replyToId)
    }
    default:
      return unknownKind(content)
  }
}

/**
 * The content of a plaintext. Never throws: everything that does not match a form exactly is text. The forms
 * are those of `encodeContent` and the JSON forms of older clients: `{"type":"image","key"}` with or without
 * a `thumbnail`, `{"type":"file","key","name","size"}`, `{"type":"voice","key","durationMs"}` or
 * `"duration"`, in milliseconds.
 */
export function decodeContent(plaintext: string): MessageContent {
  return decodeJsonForm(plaintext) ?? decodeTextForm(plaintext) ?? { kind: 'text', text: plaintext }
}

function encodeText(text: string, replyToId: string | undefined): string {
  if (typeof text !== 'string') throw new CryptoError('INVALID_ARGUMENT', 'text must be a string')
  if (decodeTextForm(text) !== undefined) return JSON.stringify({ text, replyToId, type: 'text' })
  if (replyToId === undefined && decodeJsonForm(text) !== undefined) return JSON.stringify({ text })
  return wrapReply(text, replyToId)
}

function wrapReply(text: string, replyToId: string | undefined): string {
  return replyToId === undefined ? text : JSON.stringify({ text, replyToId })
}

function decodeTextForm(text: string): MediaContent | undefined {
  const image = IMAGE_FORM.exec(text)
  if (image) return imageContent(image[1])
  const file = FILE_FORM.exec(text)
  if (file) return fileContent(file[1], file[2], Number(file[3]))
  const voice = VOICE_FORM.exec(text)
  if (voice) return voiceContent(voice[1], Number(voice[2]))
  return undefined
}

function decodeJsonForm(plaintext: string): MessageContent | undefined {
  const object = parseObject(plaintext)
  if (object === undefined) return undefined
  const content = decodeJsonMedia(object) ?? decodeJsonText(object)
  if (content === undefined) return undefined
  const replyToId = object.get('replyToId')
  return typeof replyToId === 'string' && replyToId !== '' ? { ...content, replyToId } : content
}

function decodeJsonMedia(object: ReadonlyMap<string, unknown>): MediaContent | undefined {
  switch (object.get('type')) {
    case 'image':
      return imageContent(object.get('key'), object.get('thumbnail'))
    case 'file':
      return fileContent(object.get('key'), object.get('name'), object.get('size'))
    case 'voice':
      return voiceContent(object.get('key'), object.get('durationMs') ?? object.get('duration'))
    default:
      return undefined
  }
}

function decodeJsonText(object: ReadonlyMap<string, unknown>): MessageContent | undefined {
  const text = object.get('text')
  if (typeof text !== 'string') return undefined
  if (object.get('type') === 'text') return { kind: 'text', text }
  // People may type JSON. Only a reply, or an object that is only a wrapper, is one of our forms.
  const isReply = typeof object.get('replyToId') === 'string'
  const isWrapper = object.size === (object.get('replyToId') === null ? 2 : 1)
  if (!isReply && !isWrapper) return undefined
  return decodeTextForm(text) ?? { kind: 'text', text }
}

function imageContent(key: unknown, thumbnail?: unknown): ImageContent | undefined {
  if (!isMediaKey(key)) return undefined
  return { kind: 'image', mediaKey: key, ...(typeof thumbnail === 'string' ? { thumbnail } : {}) }
}

function fileContent(key: unknown, name: unknown, size: unknown): FileContent | undefined {
  if (!isMediaKey(key) || typeof name !== 'string' || !isWhole(size)) return undefined
  return { kind: 'file', mediaKey: key, name, sizeBytes: size }
}

function voiceContent(key: unknown, duration: unknown): VoiceContent | undefined {
  // Some clients send fractions of a millisecond, as recorders measure them.
  const durationMs = typeof duration === 'number' ? Math.round(duration) : undefined
  if (!isMediaKey(key) || !isWhole(durationMs)) return undefined
  return { kind: 'voice', mediaKey: key, durationMs }
}

function parseObject(text: string): ReadonlyMap<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    return new Map<string, unknown>(Object.entries(value))
  } catch {
    return undefined
  }
}

// -0 is no length: it could not be written again.
function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
}

function checkWhole(value: number, what: string): number {
  if (!isWhole(value)) throw new CryptoError('INVALID_ARGUMENT', `${what} must be a whole number from 0`)
  return value
}

function checkMediaKey(mediaKey: string): string {
  if (!isMediaKey(mediaKey)) throw new CryptoError('INVALID_ARGUMENT', 'mediaKey is not a media key')
  return mediaKey
}

function unknownKind(_content: never): never {
  throw new CryptoError('INVALID_ARGUMENT', 'kind must be text, image, file or voice')
}
