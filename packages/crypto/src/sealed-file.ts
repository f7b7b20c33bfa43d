// A file with a key of its own (crypto_v 3) as one text, for the device that sends or receives it.
import { checkKey } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { bareMediaKey, FILE_KEY, isMediaKey } from './media-key.ts'
import type { SealedFile } from './secret-kinds.ts'

const MAX_FILE_BYTES = 999_999_999_999_999

/**
 * The file as a text: the media key, `#`, the file's key as hex, `.` and its size. No media key has a `#`, so
 * nothing takes this text for one: neither a relay nor a content of version 1 (`encodeContent` refuses it).
 * Undefined if the media key is not valid, or the size is not a whole number below 10^15.
 */
export function formatSealedFile({ mediaKey, fileKey, sizeBytes }: SealedFile): string | undefined {
  checkKey(fileKey, 'fileKey')
  const isSize = Number.isSafeInteger(sizeBytes) && sizeBytes >= 0 && sizeBytes <= MAX_FILE_BYTES
  return isMediaKey(mediaKey) && isSize ? `${mediaKey}#${bytesToHex(fileKey)}.${sizeBytes}` : undefined
}

/** The file of its text; undefined for a bare media key. Throws `INVALID_ARGUMENT` for anything else. */
export function parseSealedFile(text: string): SealedFile | undefined {
  const mediaKey = typeof text === 'string' ? bareMediaKey(text) : undefined
  if (!isMediaKey(mediaKey)) throw new CryptoError('INVALID_ARGUMENT', 'invalid media key')
  const [, hex, size] = FILE_KEY.exec(text) ?? []
  return hex === undefined ? undefined : { mediaKey, fileKey: hexToBytes(hex), sizeBytes: Number(size) }
}
