// Bodies and replies of media: uploads in parts, upload and download links, and an account's used space.
import * as v from 'valibot'

const KEY = 'm_[A-Za-z0-9_-]{22}'

/** The key of a blob: `m_` and 128 random bits. Any account that knows it can download the blob. */
export const MediaKey = v.pipe(
  v.string(),
  v.regex(new RegExp(`^${KEY}$`), 'must be a media key'),
  v.brand('MediaKey'),
)
/** See {@link MediaKey}. */
export type MediaKey = v.InferOutput<typeof MediaKey>

/** A media key as messages carry it: optionally with `.h` and the blob's hash, which a relay ignores. */
export const GivenMediaKey = v.pipe(
  v.string(),
  v.regex(new RegExp(`^${KEY}(?:\\.h[A-Za-z0-9_=-]{0,64})?$`), 'must be a media key'),
  v.transform((key) => key.slice(0, 24)),
  v.brand('MediaKey'),
)

/** An upload's id: `up_` and an unguessable text. */
export const UploadId = v.pipe(v.string(), v.regex(/^up_[A-Za-z0-9_-]{22}$/, 'must be an upload id'))

/** The highest possible part number. */
export const MOST_PARTS = 10_000
const PART_RULE = `must be an integer from 1 to ${MOST_PARTS}`
const PartNumber = v.pipe(
  v.number(PART_RULE),
  v.integer(PART_RULE),
  v.minValue(1, PART_RULE),
  v.maxValue(MOST_PARTS, PART_RULE),
)
/** Identifies one version of a part. HTTP's quotation marks are not included. */
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

/** `content_type` is accepted for compatibility and ignored: every blob is served as bytes. */
export const InitUploadBody = v.object({ content_type: v.exactOptional(ContentType) })
export const InitUploadReply = v.object({ upload_id: UploadId, media_key: MediaKey })

export const UploadPath = v.object({ upload_id: UploadId })
export const PartQuery = v.object({
  mediaKey: GivenMediaKey,
  partNumber: v.pipe(v.string(), v.regex(/^(?:[1-9]\d{0,3}|10000)$/, PART_RULE), v.transform(Number)),
})
export const PartReply = v.object({ etag: v.string() })

/** The stored parts of an unfinished upload. */
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

/**
 * If `size` is given, exactly that many bytes must be written. `conversation_id` is accepted for
 * compatibility and ignored.
 */
export const UploadUrlBody = v.object({
  content_type: v.exactOptional(ContentType),
  conversation_id: v.exactOptional(v.pipe(v.string(), v.maxLength(128, 'must be at most 128 characters'))),
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

/** A signed, short-lived link of the relay to one blob. */
export const MediaLinkPath = v.object({
  link: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{20,200}$/)),
})

export const StorageEstimate = v.object({
  used_bytes: Bytes,
  total_bytes: Bytes,
  quota_bytes: Bytes,
  message_count: Bytes,
})
