// Media keys, and the digest that shows whether a blob was shortened or rearranged.
import { encodeBase64Url } from './base64.ts'
import { checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { primitives } from './primitives.ts'

const MEDIA_KEY = /^[A-Za-z0-9._~-]{1,256}$/
const DIGEST = /\.h([A-Za-z0-9_-]{43})$/

/** Whether `text` can be a media key: 1 to 256 URL-safe characters, its digest included. Never throws. */
export function isMediaKey(text: unknown): text is string {
  return typeof text === 'string' && MEDIA_KEY.test(text)
}

/**
 * The media key to write into a message: `mediaKey`, `.h` and the Base64url SHA-256 of the blob as stored,
 * that is of all its encrypted chunks in a row. Rejects with `INVALID_ARGUMENT` for a key that is none, or has a
 * digest already.
 */
export async function appendMediaDigest(mediaKey: string, blob: Uint8Array): Promise<string> {
  checkBytes(blob, 'blob')
  const { sha256 } = await primitives()
  return appendMediaSha256(mediaKey, await sha256(blob))
}

/** As `appendMediaDigest`, for callers that hashed the blob as they went. `digest` is 32 bytes. */
export function appendMediaSha256(mediaKey: string, digest: Uint8Array): string {
  checkBytes(digest, 'digest', 32)
  if (!isMediaKey(mediaKey) || DIGEST.test(mediaKey))
    throw new CryptoError('INVALID_ARGUMENT', 'not a bare media key')
  return `${mediaKey}.h${encodeBase64Url(digest)}`
}

/**
 * Whether a downloaded blob is the one its sender stored: `verified`, `altered`, or `unproven` where the key
 * carries no digest and nobody can tell.
 */
export async function checkMediaDigest(
  mediaKey: string,
  blob: Uint8Array,
): Promise<'verified' | 'altered' | 'unproven'> {
  checkBytes(blob, 'blob')
  const digest = DIGEST.exec(mediaKey)?.[1]
  if (digest === undefined) return 'unproven'
  // Nothing secret is compared: the blob and the digest are both in the hands of whoever asks.
  const { sha256 } = await primitives()
  return digest === encodeBase64Url(await sha256(blob)) ? 'verified' : 'altered'
}
