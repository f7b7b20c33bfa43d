// The encoding of the content of a version 3 message: its format, its kind, and its members.
import { ByteReader, ByteWriter } from './byte-record.ts'
import { type Bytes, checkBytes } from './bytes.ts'
import { invalidContent, MemberReader, MemberWriter } from './content-members.ts'
import { CryptoError } from './crypto-error.ts'
import { isMediaKey } from './media-key.ts'
import {
  type KnownContent,
  MAX_SECRET_CONTENT_BYTES,
  MAX_SECRET_TEXT_BYTES,
  type Reply,
  type SealedFile,
  type SecretAttachment,
  type SecretContent,
} from './secret-kinds.ts'
import { isSmallJpeg, MAX_THUMBNAIL_BYTES } from './thumbnail.ts'

const FORMAT = 1
const FILE_KEY_BYTES = 32
const MAX_ID_BYTES = 128
const MAX_NAME_BYTES = 512
const MAX_REACTION_BYTES = 64
const MAX_EDGE = 65_535
const MAX_SAMPLES = 64
const MAX_SAMPLE = 100
/** The last time that a `Date` can have. */
const MAX_TIME = 8_640_000_000_000_000
const MESSAGE_ID = /^[\x21-\x7e]{1,128}$/

/** The numbers of kinds. A number is never given to another kind. */
const KINDS = {
  text: 1,
  edit: 2,
  reaction: 3,
  deletion: 4,
  attachment: 5,
  voice: 6,
  profile: 7,
  text_form: 8,
} as const satisfies Record<KnownContent['kind'], number>

/** The numbers of members, the same for all kinds. A number is never given to another member. */
const MEMBERS = {
  text: 1,
  replyToId: 2,
  messageId: 3,
  reaction: 4,
  at: 5,
  mediaKey: 6,
  fileKey: 7,
  sizeBytes: 8,
  isImage: 9,
  name: 10,
  dimensions: 11,
  previewFile: 12,
  previewInside: 13,
  durationMs: 14,
  waveform: 15,
  picture: 16,
  isOwn: 17,
} as const

/**
 * The encoding of a content: format 1, the number of its kind, and its members in the order of their
 * numbers. Equal contents have equal encodings. Throws `INVALID_ARGUMENT` for what `decodeSecretContent`
 * would refuse. A lone surrogate in a text becomes U+FFFD.
 */
export function encodeSecretContent(content: SecretContent): Bytes {
  if (content.kind === 'unknown') checkBytes(content.bytes, 'bytes')
  const bytes = content.kind === 'unknown' ? new Uint8Array(content.bytes) : encodeKnown(content)
  try {
    if (decodeSecretContent(bytes).kind === content.kind) return bytes
  } catch (error) {
    if (error instanceof CryptoError) throw new CryptoError('INVALID_ARGUMENT', error.message)
    throw error
  }
  throw new CryptoError('INVALID_ARGUMENT', 'the content is of another kind')
}

/**
 * The content of its encoding. A later format and an unknown kind are `unknown`. Throws `INVALID_ENCODING`
 * for bytes that no version writes, and for members that are missing or out of bounds.
 */
export function decodeSecretContent(bytes: Uint8Array): SecretContent {
  checkBytes(bytes, 'bytes', undefined, 'INVALID_ENCODING')
  if (bytes.length > MAX_SECRET_CONTENT_BYTES) throw invalidContent('the content is too long')
  const reader = new ByteReader(bytes)
  const [format, kind] = [reader.number(), reader.number()]
  const unknown = { kind: 'unknown', bytes: new Uint8Array(bytes) } as const
  if (format === 0) throw invalidContent('the format of a content counts from 1')
  if (format > FORMAT) return unknown
  const members = new MemberReader(reader)
  const known = decodeKnown(kind, members)
  return known ? withoutUndefined({ ...known, unknown: members.unknown() }) : unknown
}

function encodeKnown(content: KnownContent): Bytes {
  const members = new MemberWriter()
  writeMembers(members, content)
  for (const { number, value } of content.unknown ?? []) members.bytes(number, value)
  const writer = new ByteWriter().number(FORMAT).number(KINDS[content.kind])
  members.writeTo(writer)
  return writer.done()
}

function writeMembers(to: MemberWriter, content: KnownContent): void {
  switch (content.kind) {
    case 'text':
      to.text(MEMBERS.text, content.text).text(MEMBERS.replyToId, content.replyToId)
      writeTime(to, content.at)
      return
    case 'text_form':
      to.text(MEMBERS.text, content.text)
      return
    case 'edit':
      to.text(MEMBERS.text, content.text).text(MEMBERS.messageId, content.messageId)
      writeTime(to, content.at)
      return
    case 'reaction':
      to.text(MEMBERS.messageId, content.messageId).text(MEMBERS.reaction, content.reaction)
      to.flag(MEMBERS.isOwn, content.isOwn)
      writeTime(to, content.at)
      return
    case 'deletion':
      to.text(MEMBERS.messageId, content.messageId)
      return
    case 'attachment':
      writeAttachment(to, content)
      return
    case 'voice':
      writeFileMembers(to, content)
      to.text(MEMBERS.replyToId, content.replyToId)
      to.record(MEMBERS.durationMs, content.durationMs, (writer, each) => writer.number(each))
      to.record(MEMBERS.waveform, content.waveform, (writer, samples) => {
        for (const sample of samples) writer.number(sample)
      })
      return
    case 'profile':
      to.text(MEMBERS.name, content.name).record(MEMBERS.picture, content.picture, writeFile)
      writeTime(to, content.at)
  }
}

function decodeKnown(kind: number, from: MemberReader): KnownContent | undefined {
  switch (kind) {
    case KINDS.text:
      return { kind: 'text', text: needed(readText(from)), ...readReply(from), at: readTime(from) }
    case KINDS.text_form:
      return { kind: 'text_form', text: needed(readText(from)) }
    case KINDS.edit: {
      const [messageId, text] = [needed(readId(from)), needed(readText(from))]
      return { kind: 'edit', messageId, text, at: needed(readTime(from)) }
    }
    case KINDS.reaction: {
      const reaction = from.text(MEMBERS.reaction, MAX_REACTION_BYTES, 1)
      const [messageId, isOwn] = [needed(readId(from)), from.flag(MEMBERS.isOwn)]
      return { kind: 'reaction', messageId, isOwn, reaction, at: needed(readTime(from)) }
    }
    case KINDS.deletion:
      return { kind: 'deletion', messageId: needed(readId(from)) }
    case KINDS.attachment:
      return readAttachment(from)
    case KINDS.voice: {
      const durationMs = needed(from.record(MEMBERS.durationMs, (reader) => reader.number()))
      const samples = from.bytes(MEMBERS.waveform, MAX_SAMPLES, 1)
      if (samples?.some((sample) => sample > MAX_SAMPLE)) throw invalidContent('a sample is out of bounds')
      const waveform = samples && Array.from(samples)
      return { kind: 'voice', ...readFileMembers(from), durationMs, waveform, ...readReply(from) }
    }
    case KINDS.profile: {
      const name = from.text(MEMBERS.name, MAX_NAME_BYTES, 1)
      const picture = from.record(MEMBERS.picture, readFile)
      return { kind: 'profile', name, picture, at: needed(readTime(from)) }
    }
    default:
      return undefined
  }
}

function writeAttachment(to: MemberWriter, content: SecretAttachment): void {
  const { isImage, name, dimensions, preview, caption, replyToId } = content
  writeFileMembers(to, content)
  to.flag(MEMBERS.isImage, isImage).text(MEMBERS.name, name)
  to.text(MEMBERS.text, caption).text(MEMBERS.replyToId, replyToId)
  to.record(MEMBERS.dimensions, dimensions, (writer, { width, height }) =>
    writer.number(width).number(height),
  )
  if (preview?.place === 'file') to.record(MEMBERS.previewFile, preview, writeFile)
  else to.bytes(MEMBERS.previewInside, preview?.jpeg)
}

function readAttachment(from: MemberReader): SecretAttachment {
  const dimensions = from.record(MEMBERS.dimensions, (reader) => {
    return { width: readEdge(reader), height: readEdge(reader) }
  })
  const file = from.record(MEMBERS.previewFile, readFile)
  const jpeg = from.bytes(MEMBERS.previewInside, MAX_THUMBNAIL_BYTES)
  if (file && jpeg) throw invalidContent('an attachment has two previews')
  if (jpeg && !isSmallJpeg(jpeg)) throw invalidContent('a preview is no small JPEG')
  const preview = file ? { place: 'file' as const, ...file } : jpeg && { place: 'inside' as const, jpeg }
  return {
    kind: 'attachment',
    isImage: from.flag(MEMBERS.isImage),
    ...readFileMembers(from),
    name: from.text(MEMBERS.name, MAX_NAME_BYTES, 1),
    dimensions,
    preview,
    caption: readText(from),
    ...readReply(from),
  }
}

function writeFileMembers(to: MemberWriter, { mediaKey, fileKey, sizeBytes }: SealedFile): void {
  to.text(MEMBERS.mediaKey, mediaKey).bytes(MEMBERS.fileKey, fileKey)
  to.record(MEMBERS.sizeBytes, sizeBytes, (writer, each) => writer.number(each))
}

function readFileMembers(from: MemberReader): SealedFile {
  return {
    mediaKey: mediaKeyOf(needed(from.text(MEMBERS.mediaKey, 256))),
    fileKey: needed(from.bytes(MEMBERS.fileKey, FILE_KEY_BYTES, FILE_KEY_BYTES)),
    sizeBytes: needed(from.record(MEMBERS.sizeBytes, (reader) => reader.number())),
  }
}

function writeFile(writer: ByteWriter, { mediaKey, fileKey, sizeBytes }: SealedFile): void {
  checkBytes(fileKey, 'fileKey', FILE_KEY_BYTES)
  writer.text(mediaKey).fixed(fileKey).number(sizeBytes)
}

function readFile(reader: ByteReader): SealedFile {
  const mediaKey = mediaKeyOf(reader.text())
  return { mediaKey, fileKey: reader.fixed(FILE_KEY_BYTES), sizeBytes: reader.number() }
}

function mediaKeyOf(text: string): string {
  if (!isMediaKey(text)) throw invalidContent('a media key is not valid')
  return text
}

function readEdge(reader: ByteReader): number {
  const pixels = reader.number()
  if (pixels < 1 || pixels > MAX_EDGE) throw invalidContent('dimensions are out of bounds')
  return pixels
}

function readText(from: MemberReader): string | undefined {
  return from.text(MEMBERS.text, MAX_SECRET_TEXT_BYTES)
}

function readReply(from: MemberReader): Reply {
  return { replyToId: messageIdOf(from.text(MEMBERS.replyToId, MAX_ID_BYTES)) }
}

function readId(from: MemberReader): string | undefined {
  return messageIdOf(from.text(MEMBERS.messageId, MAX_ID_BYTES))
}

function writeTime(to: MemberWriter, at: number | undefined): void {
  to.record(MEMBERS.at, at, (writer, each) => writer.number(each))
}

function readTime(from: MemberReader): number | undefined {
  const at = from.record(MEMBERS.at, (reader) => reader.number())
  if (at !== undefined && at > MAX_TIME) throw invalidContent('a time is out of bounds')
  return at
}

function messageIdOf(text: string | undefined): string | undefined {
  if (text !== undefined && !MESSAGE_ID.test(text)) throw invalidContent('a message id is not valid')
  return text
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw invalidContent('a member is missing')
  return value
}

function withoutUndefined<T extends object>(value: T): T {
  for (const [name, each] of Object.entries(value))
    if (each === undefined) Reflect.deleteProperty(value, name)
  return value
}
