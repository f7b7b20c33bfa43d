// Byte arrays: checks at the entry of every construction, joining, UTF-8, and randomness from the caller.
import { CryptoError, type CryptoErrorCode } from './crypto-error.ts'

/** Bytes in ordinary memory, as this package returns them; `fetch` and `WebSocket.send` accept them. */
export type Bytes = Uint8Array<ArrayBuffer>

/**
 * A source of cryptographically secure random bytes, for example
 * `(length) => crypto.getRandomValues(new Uint8Array(length))`. Returns exactly `length` bytes, new ones
 * each time.
 */
export type RandomBytes = (length: number) => Uint8Array

/** Whether `value` is a byte array of any realm: test runners have several. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]'
}

/**
 * Throws `code` unless `value` is a byte array, of exactly `length` bytes if given. The message calls it
 * `what`.
 */
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

/**
 * Throws `INVALID_KEY` unless `value` is a byte array of 32 bytes, the length of every key in this package.
 */
export function checkKey(value: unknown, what: string): void {
  checkBytes(value, what, 32, 'INVALID_KEY')
}

/** Throws `INVALID_ARGUMENT` unless `value` is a non-empty string. */
export function checkText(value: unknown, what: string): void {
  if (typeof value !== 'string' || value === '')
    throw new CryptoError('INVALID_ARGUMENT', `${what} must be a non-empty string`)
}

/** Gets `length` bytes from the caller's source and checks their number. */
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

/**
 * Like `concatBytes`, for a number of parts that the network decides: the stack limits the number of
 * arguments.
 */
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

/**
 * Frees the memory of unused bytes at once, where the platform can (ES2024). A garbage collector would let
 * many large buffers accumulate first.
 */
export function releaseBytes({ buffer }: Bytes): void {
  const released: ArrayBuffer & { transfer?(bytes: number): ArrayBuffer } = buffer
  released.transfer?.(0)
}

/** Reads a little-endian number, as in the keys of both curves. */
export function readLittleEndian(bytes: Uint8Array): bigint {
  let number = 0n
  for (const byte of bytes.toReversed()) number = (number << 8n) | BigInt(byte)
  return number
}

const encoder = new TextEncoder()

// ignoreBOM: a leading U+FEFF is part of the sender's text and must survive the round trip.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 of `text`. A lone surrogate has no UTF-8 form and becomes U+FFFD (WHATWG Encoding Standard). */
export function encodeUtf8(text: string): Bytes {
  return encoder.encode(text)
}

/** Text of well-formed UTF-8; throws a `TypeError` on any other bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
