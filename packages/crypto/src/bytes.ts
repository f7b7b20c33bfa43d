// Byte arrays: the checks at the entry of every construction, joining, UTF-8, and randomness from outside.
import { CryptoError, type CryptoErrorCode } from './crypto-error.ts'

/** What this package returns: bytes of plain memory, which `fetch` and `WebSocket.send` take as they are. */
export type Bytes = Uint8Array<ArrayBuffer>

/**
 * A source of cryptographically secure random bytes, for example
 * `(length) => crypto.getRandomValues(new Uint8Array(length))`. Returns exactly `length` bytes, never the same
 * ones again.
 */
export type RandomBytes = (length: number) => Uint8Array

/** Whether `value` is a byte array, of whatever realm: test runners have several. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]'
}

/** Throws `code` unless `value` is a byte array, of exactly `length` bytes where given. `what` names it. */
export function checkBytes(
  value: unknown,
  what: string,
  length?: number,
  code: CryptoErrorCode = 'INVALID_ARGUMENT',
): void {
  if (!isBytes(value)) throw new CryptoError(code, `${what} must be a Uint8Array`)
  if (length !== undefined && value.length !== length)
    throw new CryptoError(code, `${what} must be ${length} bytes`)
}

/** Throws `INVALID_KEY` unless `value` is a byte array of 32 bytes: every key of this package is. */
export function checkKey(value: unknown, what: string): void {
  checkBytes(value, what, 32, 'INVALID_KEY')
}

/** Throws `INVALID_ARGUMENT` unless `value` is a string, and not an empty one. */
export function checkText(value: unknown, what: string): void {
  if (typeof value !== 'string' || value === '')
    throw new CryptoError('INVALID_ARGUMENT', `${what} must be a non-empty string`)
}

/** Takes `length` bytes from the caller's source, and does not trust it to have given that many. */
export function takeRandomBytes(randomBytes: RandomBytes, length: number): Uint8Array {
  if (typeof randomBytes !== 'function')
    throw new CryptoError('INVALID_ARGUMENT', 'randomBytes must be a function')
  const bytes = randomBytes(length)
  checkBytes(bytes, 'the result of randomBytes', length)
  return bytes
}

/** Joins byte arrays into a new one. */
export function concatBytes(...parts: readonly Uint8Array[]): Bytes {
  return joinBytes(parts)
}

/** As `concatBytes`, for a number of parts that the network decides: arguments are limited by the stack. */
export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  let length = 0
  for (const part of parts) length += part.length
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** The number that bytes stand for with the least significant first, as keys of both curves are written. */
export function readLittleEndian(bytes: Uint8Array): bigint {
  let number = 0n
  for (const byte of bytes.toReversed()) number = (number << 8n) | BigInt(byte)
  return number
}

const encoder = new TextEncoder()

// ignoreBOM: a leading U+FEFF is part of what the sender wrote, and must survive the round trip.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 of `text`. A lone surrogate has no UTF-8 form and becomes U+FFFD (WHATWG Encoding Standard). */
export function encodeUtf8(text: string): Bytes {
  return encoder.encode(text)
}

/** Text of well-formed UTF-8; throws a `TypeError` on any other bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
