// Byte arrays: joining, comparing, and the variable-length vectors of MLS (RFC 9420, section 2.1.2).
import type { Bytes } from '@sotto/crypto'
import { invalid } from './mls-error.ts'

/** Joins byte arrays into a new one. */
export function concatBytes(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Whether two byte arrays are equal. Not in constant time: for public values. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

/** A big-endian number of 1, 2, 4 or 8 bytes. */
export function encodeNumber(value: number | bigint, length: 1 | 2 | 4 | 8): Bytes {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes.slice(8 - length)
}

/** A vector: its length in one, two or four bytes, then its bytes. */
export function encodeVector(bytes: Uint8Array): Bytes {
  const { length } = bytes
  if (length < 0x40) return concatBytes(encodeNumber(length, 1), bytes)
  if (length < 0x4000) return concatBytes(encodeNumber(length | 0x4000, 2), bytes)
  if (length < 0x40000000) return concatBytes(encodeNumber(length + 0x80000000, 4), bytes)
  throw invalid('a vector is longer than MLS can express')
}

/** Reads numbers and vectors one after another. Every method throws `INVALID` at the end of the bytes. */
export class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  take(length: number): Bytes {
    if (length > this.left) throw invalid('the bytes end too early')
    this.#at += length
    return new Uint8Array(this.#bytes.subarray(this.#at - length, this.#at))
  }

  number(length: 1 | 2 | 4 | 8): bigint {
    return this.take(length).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
  }

  vector(): Bytes {
    const first = Number(this.number(1))
    const more = [0, 1, 3][first >> 6]
    if (more === undefined) throw invalid('a vector has a length that MLS does not know')
    const length = this.take(more).reduce((value, byte) => value * 256 + byte, first & 0x3f)
    return this.take(length)
  }
}
