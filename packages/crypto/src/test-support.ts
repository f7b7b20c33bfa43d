// What the tests of this package share: the project's vectors, identities, and ways to break things.
import { expect } from 'bun:test'
import fc from 'fast-check'
import vectors from '../../../vectors/crypto.json'
import { decodeBase64 } from './base64.ts'
import type { RandomBytes } from './bytes.ts'
import { CryptoError, type CryptoErrorCode } from './crypto-error.ts'
import { hexToBytes } from './hex.ts'
import type { IdentityKeys } from './key-pairs.ts'

export { vectors }

/** Real randomness, for tests in which the bytes do not matter. */
export const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length))

/** A source that gives exactly these bytes, so that a vector's nonce comes out. */
export function fixedBytes(hex: string): RandomBytes {
  return () => hexToBytes(hex)
}

/** The keys of one of the identities in `vectors/crypto.json`. */
export function identity(index: number): IdentityKeys {
  const found = vectors.identities[index]
  if (found === undefined) throw new Error(`no identity ${index} in vectors/crypto.json`)
  return {
    signing: {
      privateKey: hexToBytes(found.ed25519_private_hex),
      publicKey: decodeBase64(found.ed25519_public_b64),
    },
    agreement: {
      privateKey: hexToBytes(found.x25519_private_hex),
      publicKey: decodeBase64(found.x25519_public_b64),
    },
  }
}

/** The session key of the vectors' two friends. */
export const sessionKey = hexToBytes(vectors.session.session_key_hex)

/** Bytes of any length up to `maxLength`. */
export const anyBytes = (maxLength = 256) => fc.uint8Array({ maxLength })

/** Any string at all, lone surrogates included. */
export const anyString = () =>
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) })

/** Text a person could write: well-formed Unicode, of which some looks like our own forms. */
export const anyText = () => fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))

/** Runs `act` and expects a CryptoError with this code, thrown or rejected with. */
export async function expectCode(code: CryptoErrorCode, act: () => unknown): Promise<void> {
  expect(await codeOf(act)).toBe(code)
}

/** The code `act` fails with, or undefined if it does not. Any other error is a bug and passes through. */
export async function codeOf(act: () => unknown): Promise<CryptoErrorCode | undefined> {
  try {
    await act()
    return undefined
  } catch (error) {
    if (error instanceof CryptoError) return error.code
    throw error
  }
}

/** A copy of `bytes` with one bit turned over; `bit` is taken modulo their number. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = new Uint8Array(bytes)
  const at = (bit >> 3) % copy.length
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7))
  return copy
}
