// Media keys, and the digest that reveals a shortened or rearranged blob.
import { encodeBase64Url } from './base64.ts'
import { checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { primitives } from './primitives.ts'

const MEDIA_KEY = /^[A-Za-z0-9._~-]{1,256}$/
const DIGEST = /\.h([A-Za-z0-9_-]{43})$/
/** What a device keeps behind the media key of a file with a key of its own (`sealed-file.ts`). */
export const FILE_KEY = /#([0-9a-f]{64})\.(\d{1,15})$/

/** Whether `text` can be a media key: 1 to 256 URL-safe characters, including its digest. Never throws. */
export function isMediaKey(text: unknown): text is string {
  return typeof text === 'string' && MEDIA_KEY.test(text)
}

/** A media key as a relay knows it: without the key of its file, if it has one. */
export function bareMediaKey(text: string): string {
  return text.replace(FILE_KEY, '')
}

/**
 * The media key to write into a message: `mediaKey`, `.h` and the Base64url SHA-256 of the stored blob,
 * that is of all its encrypted chunks in order. Rejects with `INVALID_ARGUMENT` if the key is invalid or
 * already has a digest.
 */
export async function appendMediaDigest(mediaKey: string, blob: Uint8Array): Promise<string> {
  checkBytes(blob, 'blob')
  const { sha256 } = await primitives()
  return appendMediaSha256(mediaKey, await sha256(blob))
}

/** Like `appendMediaDigest`, for callers that have already hashed the blob. `digest` is 32 bytes. */
export function appendMediaSha256(mediaKey: string, digest: Uint8Array): string {
  checkBytes(digest, 'digest', 32)
  if (!isMediaKey(mediaKey) || DIGEST.test(mediaKey))
    throw new CryptoError('INVALID_ARGUMENT', 'not a bare media key')
  return `${mediaKey}.h${encodeBase64Url(digest)}`
}

/**
 * Whether a downloaded blob is the one its sender stored: `verified`, `altered`, or `unproven` if the key
 * has no digest.
 */
export async function checkMediaDigest(
  mediaKey: string,
  blob: Uint8Array,
): Promise<'verified' | 'altered' | 'unproven'> {
  checkBytes(blob, 'blob')
  const digest = DIGEST.exec(mediaKey)?.[1]
  if (digest === undefined) return 'unproven'
  // The comparison needs no constant time: the caller already has both the blob and the digest.
  const { sha256 } = await primitives()
  return digest === encodeBase64Url(await sha256(blob)) ? 'verified' : 'altered'
}
