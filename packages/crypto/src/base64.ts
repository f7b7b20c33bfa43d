// Base64 and Base64url, strict in both directions so that one value has exactly one text (RFC 4648).
import { type Bytes, checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const URL_SAFE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const PADDING = 61

interface Alphabet {
  /** The character code of each six-bit value. */
  readonly codes: Uint8Array
  /** The six-bit value of each ASCII code, 255 for none. */
  readonly values: Uint8Array
}

function alphabet(characters: string): Alphabet {
  const codes = new Uint8Array(64)
  const values = new Uint8Array(128).fill(255)
  for (let value = 0; value < 64; value += 1) {
    const code = characters.charCodeAt(value)
    codes[value] = code
    values[code] = value
  }
  return { codes, values }
}

const standard = alphabet(STANDARD)
const urlSafe = alphabet(URL_SAFE)
const ascii = new TextDecoder()

/** Standard Base64 of `bytes`, with padding (RFC 4648, section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  return encode(bytes, standard, true)
}

/**
 * The bytes of a standard Base64 text with its padding (RFC 4648, section 4). Throws `INVALID_ENCODING` on
 * anything `encodeBase64` would not have written: other characters, white space, missing or surplus padding,
 * stray bits.
 */
export function decodeBase64(text: string): Bytes {
  if (typeof text !== 'string' || text.length % 4 !== 0) throw invalid()
  let length = text.length
  if (length > 0 && text.charCodeAt(length - 1) === PADDING) length -= 1
  if (length < text.length && text.charCodeAt(length - 1) === PADDING) length -= 1
  return decode(text, length, standard)
}

/** Base64url of `bytes`, without padding (RFC 4648, section 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encode(bytes, urlSafe, false)
}

/** The bytes of a Base64url text without padding (RFC 4648, section 5). As strict as `decodeBase64`. */
export function decodeBase64Url(text: string): Bytes {
  if (typeof text !== 'string') throw invalid()
  return decode(text, text.length, urlSafe)
}

function encode(bytes: Uint8Array, { codes }: Alphabet, padded: boolean): string {
  checkBytes(bytes, 'bytes')
  const length = padded ? Math.ceil(bytes.length / 3) * 4 : Math.ceil((bytes.length * 4) / 3)
  const out = new Uint8Array(length).fill(PADDING)
  let held = 0
  let bits = 0
  let at = 0
  for (const byte of bytes) {
    held = ((held & 0x3f) << 8) | byte
    bits += 8
    while (bits >= 6) {
      bits -= 6
      out[at++] = codes[(held >> bits) & 63] ?? 0
    }
  }
  if (bits > 0) out[at] = codes[(held << (6 - bits)) & 63] ?? 0
  return ascii.decode(out)
}

function decode(text: string, length: number, { values }: Alphabet): Bytes {
  // One character left over holds six bits: less than a byte.
  if (length % 4 === 1) throw invalid()
  const out = new Uint8Array(Math.floor((length * 3) / 4))
  let held = 0
  let bits = 0
  let at = 0
  for (let index = 0; index < length; index += 1) {
    const value = values[text.charCodeAt(index)] ?? 255
    if (value === 255) throw invalid()
    held = ((held & 0x3f) << 6) | value
    bits += 6
    if (bits >= 8) {
      bits -= 8
      out[at++] = (held >> bits) & 255
    }
  }
  // Bits beyond the last byte must be zero, else two texts would stand for one value (RFC 4648, section 3.5).
  if ((held & ((1 << bits) - 1)) !== 0) throw invalid()
  return out
}

function invalid(): CryptoError {
  return new CryptoError('INVALID_ENCODING', 'not canonical Base64')
}
