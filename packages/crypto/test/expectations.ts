// Helpers for the tests of this package: the project's test vectors, identities, random inputs and altered
// inputs.
import { expect } from 'bun:test'
import fc from 'fast-check'
import vectors from '../../../vectors/crypto.json'
import { anyCharacter } from '../../protocol/test/any-character.ts'
import type { AccountKeys } from '../src/account-keys.ts'
import { decodeBase64 } from '../src/base64.ts'
import type { RandomBytes } from '../src/bytes.ts'
import { CryptoError, type CryptoErrorCode } from '../src/crypto-error.ts'
import { hexToBytes } from '../src/hex.ts'
import type { IdentityKeys } from '../src/key-pairs.ts'

export { vectors }

/** Real random bytes, for tests that work with any bytes. */
export const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length))

/** A random source that always returns these bytes, to reproduce a vector's nonce. */
export function fixedBytes(hex: string): RandomBytes {
  return () => hexToBytes(hex)
}

/** The keys of an identity in `vectors/crypto.json`. */
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

/** The session key of the two friends in the vectors. */
export const sessionKey = hexToBytes(vectors.session.session_key_hex)

/** Bytes of any length up to `maxLength`. */
export const anyBytes = (maxLength = 256) => fc.uint8Array({ maxLength })

/** Any string, including lone surrogates. */
export const anyString = () =>
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) })

export { anyCharacter }

/** Text that a person could write: well-formed Unicode. */
export const anyText = () => fc.oneof(fc.string({ unit: anyCharacter() }), fc.string({ unit: 'grapheme' }))

/** Runs `act` and expects that it throws a CryptoError with this code, or rejects with one. */
export async function expectCode(code: CryptoErrorCode, act: () => unknown): Promise<void> {
  expect(await codeOf(act)).toBe(code)
}

/**
 * The code of the CryptoError that `act` throws; undefined if it succeeds. Other errors are bugs and are
 * rethrown.
 */
export async function codeOf(act: () => unknown): Promise<CryptoErrorCode | undefined> {
  try {
    await act()
    return undefined
  } catch (error) {
    if (error instanceof CryptoError) return error.code
    throw error
  }
}

/** A copy of `bytes` with one bit flipped. Any `bit` is valid: it wraps around at the end of the bytes. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = new Uint8Array(bytes)
  const at = (bit >> 3) % copy.length
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7))
  return copy
}

/** The public keys of an identity in `vectors/crypto.json`, as constructions of version 3 take them. */
export function accountKeys(index: number): AccountKeys {
  const { agreement, signing } = identity(index)
  return { x25519: agreement.publicKey, ed25519: signing.publicKey }
}
