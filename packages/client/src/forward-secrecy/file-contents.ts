// Files with keys of their own, between the parts of a message and the content of version 3.
import {
  decodeBase64,
  encodeBase64,
  type FileContent,
  formatSealedFile,
  type ImageContent,
  parseSealedFile,
  type SealedFile,
  type VoiceContent,
} from '@sotto/crypto'
import type { SecretAttachment, SecretVoice } from '@sotto/crypto/version-3'
import { type ContentFields, fieldsOf } from '../messages/content.ts'

const MAX_NAME_BYTES = 512
const JPEG = 'data:image/jpeg;base64,'

/** The content of a file that was encrypted with a key of its own, without the message it replies to. */
export function sealedContent(
  parts: ImageContent | FileContent | VoiceContent,
  file: SealedFile,
): SecretAttachment | SecretVoice {
  if (parts.kind === 'voice') {
    const { kind, durationMs, waveform } = parts
    return { kind, ...file, durationMs, waveform }
  }
  const caption = parts.words
  if (parts.kind === 'file')
    return { kind: 'attachment', isImage: false, ...file, name: shortName(parts.name), caption }
  const { width, height, thumbnail, previewKey } = parts
  const dimensions = width === undefined || height === undefined ? undefined : { width, height }
  const jpeg = thumbnail?.startsWith(JPEG) ? decodeBase64(thumbnail.slice(JPEG.length)) : undefined
  const own = previewKey === undefined ? undefined : parseSealedFile(previewKey)
  // A message has one preview. The larger one can be shown small, too.
  const preview = own ? ({ place: 'file', ...own } as const) : jpeg && ({ place: 'inside', jpeg } as const)
  return { kind: 'attachment', isImage: true, ...file, dimensions, preview, caption }
}

/** The fields of a message with a file. Undefined if it has a size that no file has. */
export function fileFields(content: SecretAttachment | SecretVoice): ContentFields | undefined {
  const { mediaKey, sizeBytes } = content
  const mediaUrl = formatSealedFile(content)
  if (mediaUrl === undefined) return undefined
  if (content.kind === 'voice') {
    const { kind, durationMs, waveform } = content
    return { ...fieldsOf({ kind, mediaKey, durationMs, ...(waveform && { waveform }) }), mediaUrl }
  }
  const { name = '', isImage, dimensions, preview, caption } = content
  const more = { mediaUrl, ...(caption ? { words: caption } : {}) }
  if (!isImage) return { ...fieldsOf({ kind: 'file', mediaKey, name, sizeBytes }), ...more }
  const thumbnail = preview?.place === 'inside' ? JPEG + encodeBase64(preview.jpeg) : undefined
  const details = { ...dimensions, ...(thumbnail === undefined ? {} : { thumbnail }) }
  // One with a size that no file has is none.
  const previewKey = preview?.place === 'file' ? formatSealedFile(preview) : undefined
  const larger = previewKey === undefined ? {} : { previewKey }
  return { ...fieldsOf({ kind: 'image', mediaKey, sizeBytes, ...details }), ...larger, ...more }
}

/** A name that fits into a content: whole characters of it. */
function shortName(name: string): string {
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(MAX_NAME_BYTES))
  return name.slice(0, read)
}
