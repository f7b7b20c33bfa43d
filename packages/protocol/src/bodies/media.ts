// Bodies and replies of media: uploads in parts, links to upload and download by, and what an account keeps.
import * as v from 'valibot'
import { ConversationId } from '../ids.ts'

const KEY = 'm_[A-Za-z0-9_-]{22}'

/** What a blob is known by: `m_` and 128 random bits. Whoever knows it can download the blob. */
export const MediaKey = v.pipe(
  v.string(),
  v.regex(new RegExp(`^${KEY}$`), 'must be a media key'),
  v.brand('MediaKey'),
)
/** See {@link MediaKey}. */
export type MediaKey = v.InferOutput<typeof MediaKey>

/** A media key as messages carry it: perhaps with `.h` and the hash of the blob, which a relay ignores. */
export const GivenMediaKey = v.pipe(
  v.string(),
  v.regex(new RegExp(`^${KEY}(?:\\.h[A-Za-z0-9_=-]{0,64})?$`), 'must be a media key'),
  v.transform((key) => key.slice(0, 24)),
  v.brand('MediaKey'),
)

/** An upload: `up_` and what nobody can guess. */
export const UploadId = v.pipe(v.string(), v.regex(/^up_[A-Za-z0-9_-]{22}$/, 'must be an upload id'))

/** The highest number a part can have. */
export const MOST_PARTS = 10_000
const PART_RULE = `must be an integer from 1 to ${MOST_PARTS}`
const PartNumber = v.pipe(
  v.number(PART_RULE),
  v.integer(PART_RULE),
  v.minValue(1, PART_RULE),
  v.maxValue(MOST_PARTS, PART_RULE),
)
/** What names one version of a part. Quotation marks around it, as HTTP has them, are not part of it. */
const Etag = v.pipe(
  v.string(),
  v.regex(/^"?[A-Za-z0-9_-]{1,128}"?$/, 'must be what the upload of the part answered'),
  v.transform((etag) => etag.replaceAll('"', '')),
)
const Bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const ContentType = v.pipe(
  v.string(),
  v.regex(/^[\x20-\x7e]{0,255}$/, 'must be at most 255 printable ASCII characters'),
)

/** `content_type` is taken for compatibility and not kept: every blob is served as bytes. */
export const InitUploadBody = v.object({ content_type: v.exactOptional(ContentType) })
export const InitUploadReply = v.object({ upload_id: UploadId, media_key: MediaKey })

export const UploadPath = v.object({ upload_id: UploadId })
export const PartQuery = v.object({
  mediaKey: GivenMediaKey,
  partNumber: v.pipe(v.string(), v.regex(/^(?:[1-9]\d{0,3}|10000)$/, PART_RULE), v.transform(Number)),
})
export const PartReply = v.object({ etag: v.string() })

/** An upload under way: what of it is there. */
export const UploadReply = v.object({
  media_key: MediaKey,
  parts: v.array(v.object({ part_number: PartNumber, size: Bytes, etag: v.string() })),
})

export const CompleteUploadBody = v.object({
  media_key: GivenMediaKey,
  parts: v.pipe(
    v.array(v.object({ etag: Etag, part_number: PartNumber })),
    v.minLength(1, 'must not be empty'),
    v.maxLength(MOST_PARTS, `must be at most ${MOST_PARTS}`),
  ),
})
export const CompleteUploadReply = v.object({ media_key: MediaKey, size: Bytes })

/** `size`, where given, is exactly what will be written. */
export const UploadUrlBody = v.object({
  content_type: v.exactOptional(ContentType),
  conversation_id: v.exactOptional(ConversationId),
  size: v.exactOptional(
    v.pipe(
      v.number('must be an integer from 1'),
      v.safeInteger('must be an integer from 1'),
      v.minValue(1, 'must be an integer from 1'),
    ),
  ),
})
export const UploadUrlReply = v.object({ upload_url: v.string(), media_key: MediaKey, expires_in: Bytes })

export const MediaQuery = v.object({ key: GivenMediaKey })
export const DownloadUrlReply = v.object({ download_url: v.string(), expires_in: Bytes })

/** A link of the relay's own to one blob: signed, and short-lived. */
export const MediaLinkPath = v.object({
  link: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{20,200}$/)),
})

export const StorageEstimate = v.object({
  used_bytes: Bytes,
  total_bytes: Bytes,
  quota_bytes: Bytes,
  message_count: Bytes,
})
