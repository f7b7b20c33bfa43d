// Numbered members of a content: each number once, in rising order, with the length of its value. A reader
// keeps the members that it does not know.
import { ByteReader, ByteWriter } from './byte-record.ts'
import { type Bytes, checkBytes, decodeUtf8, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/** The most members that a reader keeps without knowing them. */
export const MAX_UNKNOWN_MEMBERS = 64

/** A member that this version does not know. */
export interface UnknownMember {
  readonly number: number
  readonly value: Uint8Array
}

/**
 * Collects members. A value that is undefined is no member. Throws `INVALID_ARGUMENT` for a value of a wrong
 * type.
 */
export class MemberWriter {
  readonly #members = new Map<number, Uint8Array>()

  text(number: number, value: string | undefined): this {
    if (value === undefined) return this
    if (typeof value !== 'string') throw new CryptoError('INVALID_ARGUMENT', 'a text must be a string')
    return this.bytes(number, encodeUtf8(value))
  }

  /** A member without a value, if the flag is set. */
  flag(number: number, isSet: boolean): this {
    return isSet ? this.bytes(number, new Uint8Array(0)) : this
  }

  record<T>(number: number, value: T | undefined, write: (writer: ByteWriter, value: T) => void): this {
    if (value === undefined) return this
    const writer = new ByteWriter()
    write(writer, value)
    return this.bytes(number, writer.done())
  }

  bytes(number: number, value: Uint8Array | undefined): this {
    if (value === undefined) return this
    checkBytes(value, 'the value of a member')
    if (this.#members.has(number)) throw new CryptoError('INVALID_ARGUMENT', 'a member is there twice')
    this.#members.set(number, value)
    return this
  }

  /** Writes all members, in the order of their numbers. */
  writeTo(writer: ByteWriter): void {
    const inOrder = [...this.#members].sort(([one], [other]) => one - other)
    for (const [number, value] of inOrder) writer.number(number).bytes(value)
  }
}

/** The members up to the end of the bytes. Throws `INVALID_ENCODING` for what no `MemberWriter` writes. */
export class MemberReader {
  readonly #members = new Map<number, Bytes>()

  constructor(reader: ByteReader) {
    let last = -1
    while (!reader.isAtEnd) {
      const number = reader.number()
      if (number <= last) throw invalidContent('members are not in the order of their numbers')
      last = number
      this.#members.set(number, reader.bytes())
    }
  }

  /** The text of a member, of which the UTF-8 has `least` to `most` bytes. */
  text(number: number, most: number, least = 0): string | undefined {
    const value = this.bytes(number, most, least)
    try {
      return value && decodeUtf8(value)
    } catch {
      throw invalidContent('a text is not UTF-8')
    }
  }

  flag(number: number): boolean {
    return this.bytes(number, 0) !== undefined
  }

  record<T>(number: number, read: (reader: ByteReader) => T): T | undefined {
    const value = this.bytes(number)
    if (!value) return undefined
    const reader = new ByteReader(value)
    const found = read(reader)
    reader.end()
    return found
  }

  /** Takes the value of a member: what is not taken is unknown. */
  bytes(number: number, most = Number.POSITIVE_INFINITY, least = 0): Bytes | undefined {
    const value = this.#members.get(number)
    this.#members.delete(number)
    if (value && (value.length > most || value.length < least))
      throw invalidContent('the length of a member is out of bounds')
    return value
  }

  /** The members that were not taken; undefined if there are none. */
  unknown(): readonly UnknownMember[] | undefined {
    if (this.#members.size > MAX_UNKNOWN_MEMBERS) throw invalidContent('there are too many unknown members')
    if (this.#members.size === 0) return undefined
    return Array.from(this.#members, ([number, value]) => ({ number, value }))
  }
}

/** The error for content that no version writes so. */
export function invalidContent(message: string): CryptoError {
  return new CryptoError('INVALID_ENCODING', message)
}
