import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import standard from '../../../vectors/standards/rfc7748.json'
import { codeOf, expectCode, flipBit, identity, vectors } from '../test/expectations.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { agreeSharedSecret, isValidX25519PublicKey } from './key-agreement.ts'

describe('RFC 7748', () => {
  for (const [index, { scalar, u, result }] of standard.multiplications.entries()) {
    test(`section 5.2, vector ${index + 1}`, async () => {
      expect(bytesToHex(await agreeSharedSecret(hexToBytes(scalar), hexToBytes(u)))).toBe(result)
    })
  }

  test('section 5.2, iterated 1 and 1,000 times', async () => {
    let k = hexToBytes(standard.iterated.start)
    let u = k
    for (let round = 1; round <= 1000; round += 1) {
      ;[k, u] = [await agreeSharedSecret(k, u), k]
      if (round === 1) expect(bytesToHex(k)).toBe(standard.iterated.after_1)
    }
    expect(bytesToHex(k)).toBe(standard.iterated.after_1000)
  })

  test('section 6.1: Alice and Bob agree', async () => {
    const { alice_private, alice_public, bob_private, bob_public, shared } = standard.diffie_hellman
    expect(bytesToHex(await agreeSharedSecret(hexToBytes(alice_private), hexToBytes(bob_public)))).toBe(
      shared,
    )
    expect(bytesToHex(await agreeSharedSecret(hexToBytes(bob_private), hexToBytes(alice_public)))).toBe(
      shared,
    )
    expect(isValidX25519PublicKey(hexToBytes(alice_public))).toBe(true)
  })

  for (const u of standard.low_order) {
    test(`section 6.1: the all-zero secret of ${u.slice(0, 8)}…${u.slice(-2)} is refused`, async () => {
      const { privateKey } = identity(0).agreement
      const masked = flipBit(hexToBytes(u), 255)
      for (const key of [hexToBytes(u), masked]) {
        await expectCode('WEAK_KEY', () => agreeSharedSecret(privateKey, key))
        expect(isValidX25519PublicKey(key)).toBe(false)
      }
    })
  }
})

test('the shared secret equals the vector', async () => {
  const [a, b] = [identity(vectors.session.a).agreement, identity(vectors.session.b).agreement]
  expect(bytesToHex(await agreeSharedSecret(a.privateKey, b.publicKey))).toBe(
    vectors.session.shared_secret_hex,
  )
})

test('a public key that is not reduced is invalid, so each key has one encoding', () => {
  const atLeastP = fc
    .integer({ min: 0xed, max: 0xff })
    .map((low) => `${low.toString(16)}${'ff'.repeat(30)}7f`)
  fc.assert(fc.property(atLeastP, (hex) => expect(isValidX25519PublicKey(hexToBytes(hex))).toBe(false)))
  expect(isValidX25519PublicKey(hexToBytes(`eb${'ff'.repeat(30)}7f`))).toBe(true)
  expect(isValidX25519PublicKey(flipBit(identity(0).agreement.publicKey, 255))).toBe(false)
})

test('keys that are not 32 bytes long are refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 70 }).filter(({ length }) => length !== 32),
      async (key) => {
        const { privateKey, publicKey } = identity(0).agreement
        expect(isValidX25519PublicKey(key)).toBe(false)
        expect(await codeOf(() => agreeSharedSecret(privateKey, key))).toBe('INVALID_KEY')
        expect(await codeOf(() => agreeSharedSecret(key, publicKey))).toBe('INVALID_KEY')
      },
    ),
    { numRuns: 20 },
  )
})
