// The content of a decrypted message: text, image, file or voice, in the forms that all clients read.
import { ANNOUNCED_VERSION, announce, nameInAnnouncement, readAnnouncement } from './announcement.ts'
import { CryptoError } from './crypto-error.ts'
import { markLiteral, unmarkLiteral } from './literal-text.ts'
import { isMediaKey } from './media-key.ts'
import { thumbnailOf } from './thumbnail.ts'

/** A text by a person. */
export interface TextContent {
  readonly kind: 'text'
  readonly text: string
  /** The id of the message it answers. */
  readonly replyToId?: string | undefined
}

/** What an image message says besides its key: the sender's claims, to show before the download. */
export interface ImageDetails {
  /** Pixels, from 1 to 65,535; both or neither. */
  readonly width?: number
  readonly height?: number
  /** The size of the image in bytes. */
  readonly sizeBytes?: number
  /**
   * A small preview: a data URL of a JPEG of at most 16 KiB, 320 pixels wide and high. No other type gets
   * here, so it cannot run anything.
   */
  readonly thumbnail?: string
}

/** What goes with media only under version 3: `encodeContent` refuses it. */
interface SecretDetails {
  /** What the sender wrote to a file that has a key of its own. */
  readonly words?: string
}

/** An image among the relay's media. */
export interface ImageContent extends ImageDetails, SecretDetails {
  readonly kind: 'image'
  readonly mediaKey: string
  /** The media key of a larger preview, with the preview's own key behind it. Only under version 3. */
  readonly previewKey?: string
  readonly replyToId?: string | undefined
}

/**
 * A file among the relay's media. `name` and `sizeBytes` are the sender's claims: never use them as
 * a path or for an allocation.
 */
export interface FileContent extends SecretDetails {
  readonly kind: 'file'
  readonly mediaKey: string
  readonly name: string
  readonly sizeBytes: number
  readonly replyToId?: string | undefined
}

/** A voice message among the relay's media. */
export interface VoiceContent {
  readonly kind: 'voice'
  readonly mediaKey: string
  readonly durationMs: number
  /** The loudness over time: 1 to 64 whole numbers from 0 to 100. */
  readonly waveform?: readonly number[]
  readonly replyToId?: string | undefined
}

/** The content of a message's plaintext. */
export type MessageContent = TextContent | ImageContent | FileContent | VoiceContent

/** The argument of `encodeContent`: a content, but `kind` is optional for text. */
export type OutgoingContent =
  | { readonly kind?: 'text'; readonly text: string; readonly replyToId?: string | undefined }
  | ImageContent
  | FileContent
  | VoiceContent

/** A content as received. */
export type ReceivedContent = MessageContent & {
  /** The version of secrecy that the sender announces with it, from 3. Absent if the sender was not given. */
  readonly speaks?: number
}

type MediaContent = ImageContent | FileContent | VoiceContent

/** The JSON of media and replies, before its members are checked. */
interface WireForm {
  readonly type?: unknown
  readonly key?: unknown
  readonly name?: unknown
  readonly size?: unknown
  readonly width?: unknown
  readonly height?: unknown
  readonly thumbnail?: unknown
  readonly durationMs?: unknown
  readonly duration?: unknown
  readonly waveform?: unknown
  readonly text?: unknown
  readonly replyToId?: unknown
  readonly speaks?: unknown
  readonly speaker?: unknown
}

const IMAGE_FORM = /^\[img\](.+)$/s
const FILE_FORM = /^\[file\]([^|]+)\|(.*)\|([0-9]{1,16})$/s
const VOICE_FORM = /^\[voice\]([^|]+)\|([0-9]{1,16})$/s
const MAX_EDGE = 65_535
const MAX_SAMPLES = 64
const MAX_SAMPLE = 100

/**
 * The plaintext of a content: a text as it is, media as `{"type","key",…}`, a reply as
 * `{"text","replyToId"}`. A reply with media has the members of both, with the JSON of the media as its
 * `text`, because some clients read one and some the other. A text that a client would take for a form gets
 * a U+200B in front (`markLiteral`). `decodeContent` returns every content unchanged.
 *
 * Throws `INVALID_ARGUMENT` for a member that receivers would not accept, such as an invalid media key, or a
 * size or duration that is not a whole number from 0.
 *
 * With `announcer`, the sender's X25519 public key in Base64, the plaintext also says that its sender speaks
 * version 3, and who that is: JSON by the members `speaks` and `speaker`, a text by invisible characters at
 * its end, which readers of any version show as nothing.
 */
export function encodeContent(
  content: OutgoingContent,
  { announcer }: { readonly announcer?: string | undefined } = {},
): string {
  const replyToId = content.replyToId === '' ? undefined : content.replyToId
  const form = isText(content) ? {} : mediaForm(content)
  const speaks =
    announcer === undefined ? {} : { speaks: ANNOUNCED_VERSION, speaker: nameInAnnouncement(announcer) }
  const text = isText(content) ? textForm(content.text) : JSON.stringify(form)
  if (replyToId !== undefined) return JSON.stringify({ ...form, text, replyToId, ...speaks })
  return isText(content) ? announce(text, announcer) : JSON.stringify({ ...form, ...speaks })
}

/**
 * The content of a plaintext. Never throws: everything that does not match a form exactly is text. The forms
 * are those of `encodeContent`, the media JSON of older clients (some say `duration`, in milliseconds), also
 * as the text of a reply, and `[img]key`, `[file]key|name|bytes` and `[voice]key|milliseconds`. Details of
 * media that are out of bounds are left out. An announcement is no part of a text. It becomes `speaks` if it
 * names the sender: one that was copied from a message of somebody else says nothing.
 * @param options.sender the X25519 public key of the sender, in Base64
 */
export function decodeContent(
  plaintext: string,
  { sender }: { readonly sender?: string } = {},
): ReceivedContent {
  const form = parseForm(plaintext)
  const { text: inner, replyToId } = form
  const isReply = typeof replyToId === 'string' && replyToId !== ''
  const text = isReply && typeof inner === 'string' ? inner : plaintext
  const media = readMedia(form) ?? readMedia(parseForm(text)) ?? readTextForm(text)
  const reply = isReply && (media || text === inner) ? { replyToId } : {}
  const isJson = readMedia(form) !== undefined || (isReply && text === inner)
  const said = isJson ? speaksOf(form, sender) : {}
  if (media) return { ...media, ...reply, ...said }
  if (isJson) return { kind: 'text', text: unmarkLiteral(text), ...reply, ...said }
  const read = readAnnouncement(text, sender)
  const speaks = read.announces ? { speaks: ANNOUNCED_VERSION } : {}
  return { kind: 'text', text: unmarkLiteral(read.text), ...speaks }
}

function speaksOf({ speaks, speaker }: WireForm, sender: string | undefined): { readonly speaks?: number } {
  const isTheirs = sender !== undefined && speaker === nameInAnnouncement(sender)
  return isTheirs && isWhole(speaks, ANNOUNCED_VERSION, 255) ? { speaks } : {}
}

function isText(content: OutgoingContent): content is Extract<OutgoingContent, { readonly text: string }> {
  return content.kind === undefined || content.kind === 'text'
}

function textForm(text: string): string {
  if (typeof text !== 'string') throw new CryptoError('INVALID_ARGUMENT', 'text must be a string')
  return markLiteral(text)
}

function mediaForm(content: MediaContent): WireForm {
  const {
    kind: type,
    mediaKey: key,
    sizeBytes: size,
    replyToId: _,
    ...rest
  } = { sizeBytes: undefined, ...content }
  const form: WireForm = { type, key, size, ...rest }
  const read = new Map<string, unknown>(Object.entries(readMedia(form) ?? {}))
  for (const [name, value] of Object.entries(content)) {
    if (name === 'replyToId' || value === undefined || read.get(name) === value) continue
    const what = read.size === 0 ? `${type} content` : name
    throw new CryptoError('INVALID_ARGUMENT', `invalid ${what}`)
  }
  return form
}

function readTextForm(text: string): MediaContent | undefined {
  const [, image] = IMAGE_FORM.exec(text) ?? []
  if (image) return readMedia({ type: 'image', key: image })
  const [, file, name, size] = FILE_FORM.exec(text) ?? []
  if (file) return readMedia({ type: 'file', key: file, name, size: Number(size) })
  const [, voice, durationMs] = VOICE_FORM.exec(text) ?? []
  return readMedia({ type: 'voice', key: voice, durationMs: Number(durationMs) })
}

function readMedia(form: WireForm): MediaContent | undefined {
  const { type: kind, key: mediaKey, name, size: sizeBytes } = form
  if (!isMediaKey(mediaKey)) return undefined
  if (kind === 'image') {
    const { width, height } = form
    const thumbnail = thumbnailOf(form.thumbnail)
    return {
      kind,
      mediaKey,
      ...(isWhole(width, 1, MAX_EDGE) && isWhole(height, 1, MAX_EDGE) ? { width, height } : {}),
      ...(isWhole(sizeBytes) ? { sizeBytes } : {}),
      ...(thumbnail === undefined ? {} : { thumbnail }),
    }
  }
  if (kind === 'file' && typeof name === 'string' && isWhole(sizeBytes))
    return { kind, mediaKey, name, sizeBytes }
  if (kind !== 'voice') return undefined
  const duration = form.durationMs ?? form.duration
  // Some clients send fractions of a millisecond, as recorders measure them.
  const durationMs = typeof duration === 'number' ? Math.round(duration) : undefined
  if (!isWhole(durationMs)) return undefined
  const { waveform } = form
  return { kind, mediaKey, durationMs, ...(isWaveform(waveform) ? { waveform } : {}) }
}

function parseForm(text: string): WireForm {
  if (!text.startsWith('{')) return {}
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

// -0 is no length: it could not be written again.
function isWhole(value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isInteger(value) && !Object.is(value, -0) && Number(value) >= least && Number(value) <= most
}

function isWaveform(value: unknown): value is readonly number[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_SAMPLES) return false
  return value.every((sample) => isWhole(sample, 0, MAX_SAMPLE))
}
