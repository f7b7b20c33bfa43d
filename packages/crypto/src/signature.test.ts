import { describe, expect, test } from 'bun:test'
import { ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import standard from '../../../vectors/standards/rfc8032.json'
import { anyBytes, expectCode, flipBit, identity, vectors } from '../test/expectations.ts'
import { concatBytes } from './bytes.ts'
import { isValidEd25519PublicKey } from './ed25519-public-key.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { sign, verifySignature } from './signature.ts'

const { signing } = identity(0)
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

describe('RFC 8032', () => {
  for (const { name, secret, public: publicKey, message, signature } of standard.vectors) {
    test(`section 7.1, ${name}`, async () => {
      expect(bytesToHex(await sign(hexToBytes(secret), hexToBytes(message)))).toBe(signature)
      expect(await verifySignature(hexToBytes(publicKey), hexToBytes(message), hexToBytes(signature))).toBe(
        true,
      )
      expect(isValidEd25519PublicKey(hexToBytes(publicKey))).toBe(true)
    })
  }

  test('section 5.1.7: S plus the group order is not a second signature', async () => {
    const signature = await sign(signing.privateKey, 'hello')
    const s = littleEndian(signature.subarray(32))
    const malleated = concatBytes(signature.subarray(0, 32), fromNumber(s + GROUP_ORDER))
    expect(await verifySignature(signing.publicKey, 'hello', signature)).toBe(true)
    expect(await verifySignature(signing.publicKey, 'hello', malleated)).toBe(false)
  })

  for (const [kind, keys] of [
    ['small order', standard.small_order],
    ['non-canonical', standard.non_canonical],
  ] as const) {
    for (const key of keys) {
      test(`a public key of ${kind} is refused: ${key.slice(0, 8)}…${key.slice(-2)}`, async () => {
        const publicKey = hexToBytes(key)
        expect(isValidEd25519PublicKey(publicKey)).toBe(false)
        // R = A and S = 0 satisfies the cofactored equation for every message under such a key. Lax rules
        // accept it.
        const forged = concatBytes(publicKey, new Uint8Array(32))
        expect(ed25519.verify(forged, new Uint8Array(3), publicKey, { zip215: true })).toBe(true)
        expect(await verifySignature(publicKey, new Uint8Array(3), forged)).toBe(false)
      })
    }
  }

  test('a public key with a component of small order is invalid', () => {
    const torsion = ed25519.Point.fromHex(standard.small_order[4] ?? '')
    const mixed = ed25519.Point.fromBytes(signing.publicKey).add(torsion).toBytes()
    expect(isValidEd25519PublicKey(mixed)).toBe(false)
  })
})

test('a text is signed as UTF-8', async () => {
  expect(await sign(signing.privateKey, 'déjà vu 🔐')).toEqual(
    await sign(signing.privateKey, new TextEncoder().encode('déjà vu 🔐')),
  )
})

test('verification fails for any flipped bit in the signature, message or key', async () => {
  const message = new TextEncoder().encode(vectors.auth.challenge)
  const signature = await sign(signing.privateKey, message)
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.constantFrom('signature', 'message', 'key'), async (bit, part) => {
      const changed = (name: string, bytes: Uint8Array) => (name === part ? flipBit(bytes, bit) : bytes)
      const key = changed('key', signing.publicKey)
      expect(await verifySignature(key, changed('message', message), changed('signature', signature))).toBe(
        false,
      )
    }),
    { numRuns: 300 },
  )
})

test('verification never throws, for any bytes', async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes(70), anyBytes(), anyBytes(70), async (key, message, signature) => {
      expect(await verifySignature(key, message, signature)).toBe(false)
    }),
  )
  const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const signatures = fc.uint8Array({ minLength: 64, maxLength: 64 })
  await fc.assert(
    fc.asyncProperty(keys, anyBytes(), signatures, async (key, message, signature) => {
      expect(await verifySignature(key, message, signature)).toBe(false)
      expect(typeof isValidEd25519PublicKey(key)).toBe('boolean')
    }),
  )
})

test('values that are not bytes are not valid keys or signatures', async () => {
  const nothing: unknown[] = [undefined, null, 'text', 7, [], {}]
  for (const value of nothing) {
    // Callers without types get this error.
    const untyped = value as Uint8Array
    expect(await verifySignature(untyped, 'm', untyped)).toBe(false)
    expect(isValidEd25519PublicKey(untyped)).toBe(false)
    await expectCode('INVALID_KEY', () => sign(untyped, 'm'))
  }
  await expectCode('INVALID_KEY', () => sign(new Uint8Array(64), 'm'))
})

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(bytes.toReversed())}`)
}

function fromNumber(value: bigint): Uint8Array {
  return hexToBytes(value.toString(16).padStart(64, '0')).reverse()
}
