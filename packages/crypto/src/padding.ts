// Padding, so that the length of a ciphertext says little about the length of its content: Padmé.
import { type Bytes, checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/**
 * The least padded length. Below it Padmé hides almost nothing, and a reaction or an acknowledgement would
 * be told from a text.
 */
export const MIN_PADDED_BYTES = 64

/** The most bytes that `pad` takes. A message is much smaller. */
export const MAX_UNPADDED_BYTES = 1_048_575

/** Follows the content. Zeros follow it (ISO/IEC 7816-4). */
const END = 0x80

/**
 * The length that `length` bytes are padded to: Padmé, from "Reducing Metadata Leakage from Encrypted Files
 * and Communication with PURBs" (Nikitin, Barman, Lueks, Underwood, Hubaux, Ford; PETS 2019, section 4), and
 * at least `MIN_PADDED_BYTES`. It is less than 12% longer. A length of L bits tells only about log2 L bits
 * of itself.
 */
export function paddedLength(length: number): number {
  if (!Number.isSafeInteger(length) || length < 0)
    throw new CryptoError('INVALID_ARGUMENT', 'length must be a whole number from 0')
  if (length <= MIN_PADDED_BYTES) return MIN_PADDED_BYTES
  // Not by shifts: they have only 32 bits.
  const exponent = Math.floor(Math.log2(length))
  const step = 2 ** (exponent - Math.floor(Math.log2(exponent)) - 1)
  return Math.ceil(length / step) * step
}

/**
 * The content, one byte 0x80, and zeros up to `paddedLength(content.length + 1)`. Throws `INVALID_ARGUMENT`
 * above `MAX_UNPADDED_BYTES`.
 */
export function pad(content: Uint8Array): Bytes {
  checkBytes(content, 'content')
  if (content.length > MAX_UNPADDED_BYTES) throw new CryptoError('INVALID_ARGUMENT', 'content is too long')
  const padded = new Uint8Array(paddedLength(content.length + 1))
  padded.set(content)
  padded[content.length] = END
  return padded
}

/**
 * The content, in new memory. Throws `INVALID_ENCODING` unless `padded` is exactly what `pad` makes of it.
 * Its time depends on the content: use it only on authentic bytes.
 */
export function unpad(padded: Uint8Array): Bytes {
  checkBytes(padded, 'padded')
  const end = padded.findLastIndex((byte) => byte !== 0)
  if (end > MAX_UNPADDED_BYTES || padded[end] !== END || paddedLength(end + 1) !== padded.length)
    throw new CryptoError('INVALID_ENCODING', 'the padding is not valid')
  return new Uint8Array(padded.subarray(0, end))
}
