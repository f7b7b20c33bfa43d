// Base64 and Base64url (RFC 4648). Both are strict, so that one value has exactly one text.
import { type Bytes, checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/** Bytes converted per call: the stack limits the number of arguments. */
const PIECE = 8192

/** Standard Base64 of `bytes`, with padding (RFC 4648, section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  checkBytes(bytes, 'bytes')
  let binary = ''
  for (let at = 0; at < bytes.length; at += PIECE)
    // Not by spreading, which asks the array for each byte.
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + PIECE))
  return btoa(binary)
}

/**
 * The bytes of a standard Base64 text with its padding (RFC 4648, section 4). Throws `INVALID_ENCODING` on
 * any text that `encodeBase64` does not produce: other characters, white space, missing or extra padding,
 * non-zero spare bits.
 */
export function decodeBase64(text: string): Bytes {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    throw invalid()
  }
  // The platform accepts white space, ignores padding and drops spare bits.
  if (btoa(binary) !== text) throw invalid()
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** Base64url of `bytes`, without padding (RFC 4648, section 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The bytes of a Base64url text without padding (RFC 4648, section 5). As strict as `decodeBase64`. */
export function decodeBase64Url(text: string): Bytes {
  if (typeof text !== 'string' || /[^\w-]/.test(text)) throw invalid()
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  return decodeBase64(standard.padEnd(Math.ceil(text.length / 4) * 4, '='))
}

function invalid(): CryptoError {
  return new CryptoError('INVALID_ENCODING', 'not canonical Base64')
}
