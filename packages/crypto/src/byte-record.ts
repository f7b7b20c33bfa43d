// Small binary records: numbers, byte strings and texts in a fixed order. One value has exactly one
// encoding, so records can be signed, authenticated and compared.
import { type Bytes, decodeUtf8, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/** The most bytes that a whole number up to 2^53 - 1 takes. */
const MAX_NUMBER_BYTES = 8

/** What a writer has room for at first. */
const FIRST_BYTES = 256

/** Appends values. A number is whole, from 0 to 2^53 - 1, and written as LEB128 in its shortest form. */
export class ByteWriter {
  #room: Bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  /** Throws `INVALID_ARGUMENT` for a number that is not whole or out of range. */
  number(value: number): this {
    checkWhole(value)
    this.#makeRoom(MAX_NUMBER_BYTES)
    let rest = value
    while (rest >= 0x80) {
      this.#room[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#room[this.#length++] = rest
    return this
  }

  /** 8 bytes, big-endian. Throws like `number`. */
  u64(value: number): this {
    checkWhole(value)
    this.#makeRoom(8)
    new DataView(this.#room.buffer).setBigUint64(this.#length, BigInt(value))
    this.#length += 8
    return this
  }

  flag(value: boolean): this {
    return this.number(value ? 1 : 0)
  }

  /** Bytes of a length that the reader knows. */
  fixed(value: Uint8Array): this {
    this.#makeRoom(value.length)
    this.#room.set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** The length, then the bytes. */
  bytes(value: Uint8Array): this {
    return this.number(value.length).fixed(value)
  }

  /** A text as UTF-8, with its length. */
  text(value: string): this {
    return this.bytes(encodeUtf8(value))
  }

  /** Whether there is a value, then the value. */
  optional<T>(value: T | undefined, write: (value: T) => void): this {
    this.flag(value !== undefined)
    if (value !== undefined) write(value)
    return this
  }

  /** How many values, then each. A value takes at least one byte. */
  list<T>(values: readonly T[], write: (value: T) => void): this {
    this.number(values.length)
    for (const value of values) write(value)
    return this
  }

  /** What was written, in new memory. */
  done(): Bytes {
    return this.#room.slice(0, this.#length)
  }

  #makeRoom(length: number): void {
    const needed = this.#length + length
    if (needed <= this.#room.length) return
    const larger = new Uint8Array(Math.max(needed, 2 * this.#room.length))
    larger.set(this.#room.subarray(0, this.#length))
    this.#room = larger
  }
}

/** Reads what a `ByteWriter` wrote. Every method throws `INVALID_ENCODING` for bytes that no writer wrote. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether nothing is left. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  number(): number {
    let value = 0
    let scale = 1
    for (let length = 1; length <= MAX_NUMBER_BYTES; length += 1) {
      const [byte = 0] = this.#take(1)
      value += (byte & 0x7f) * scale
      scale *= 0x80
      if (byte >= 0x80) continue
      if (!Number.isSafeInteger(value) || (byte === 0 && length > 1)) break
      return value
    }
    throw invalid('a number is too large or not in its shortest form')
  }

  u64(): number {
    const bytes = this.#take(8)
    const value = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0)
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid('a number is too large')
    return Number(value)
  }

  flag(): boolean {
    const value = this.number()
    if (value > 1) throw invalid('a flag must be 0 or 1')
    return value === 1
  }

  /** A copy of the next `length` bytes, so that it does not keep the whole record in memory. */
  fixed(length: number): Bytes {
    return new Uint8Array(this.#take(length))
  }

  bytes(): Bytes {
    return this.fixed(this.number())
  }

  /** A copy of all that is left. */
  rest(): Bytes {
    return this.fixed(this.#bytes.length - this.#at)
  }

  text(): string {
    try {
      return decodeUtf8(this.bytes())
    } catch (error) {
      throw error instanceof CryptoError ? error : invalid('a text is not UTF-8')
    }
  }

  optional<T>(read: () => T): T | undefined {
    return this.flag() ? read() : undefined
  }

  list<T>(read: () => T): T[] {
    const count = this.number()
    // Each value takes at least one byte. So a false count cannot make this allocate much.
    if (count > this.#bytes.length - this.#at) throw invalid('a list is cut off')
    return Array.from({ length: count }, read)
  }

  /** Throws if bytes follow. */
  end(): void {
    if (!this.isAtEnd) throw invalid('bytes follow the end')
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw invalid('the bytes are cut off')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}

function checkWhole(value: number): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new CryptoError('INVALID_ARGUMENT', 'a number must be whole, from 0 to 2^53 - 1')
}

function invalid(message: string): CryptoError {
  return new CryptoError('INVALID_ENCODING', message)
}
