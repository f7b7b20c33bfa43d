import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyString, codeOf, expectCode, identity, vectors } from '../test/expectations.ts'
import { parseAuthChallenge, signAuthChallenge, verifyAuthChallenge } from './auth-challenge.ts'
import { encodeBase64 } from './base64.ts'
import { sign } from './signature.ts'

const { challenge, signature_b64, signed_by } = vectors.auth
const { signing } = identity(signed_by)
const UUID = '3f0e1b5e-1111-4222-8333-444455556666'
const NONCE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'

test("signing the vector's challenge gives the vector's signature", async () => {
  expect(await signAuthChallenge(signing.privateKey, challenge)).toBe(signature_b64)
  expect(await verifyAuthChallenge(signing.publicKey, challenge, signature_b64)).toBe(true)
  expect(await verifyAuthChallenge(identity(1).signing.publicKey, challenge, signature_b64)).toBe(false)
})

describe('a challenge contains the host of its relay and its account', () => {
  for (const host of [
    'relay.example',
    'localhost:8080',
    '127.0.0.1:8080',
    '[::1]:8080',
    '[2001:db8::1]',
    'relay_1:65535',
  ]) {
    test(host, () => {
      const parsed = parseAuthChallenge(`relay-auth-v1:${host}:${UUID}:${NONCE}`)
      expect(parsed).toEqual({ version: 'relay-auth-v1', host, uuid: UUID, nonce: NONCE })
    })
  }
})

test('any other text is not a challenge and is not signed', async () => {
  const texts = [
    '',
    'hello',
    // A call signal. The same key signs those, and a relay must not get one signed as a login.
    vectors.call_signal_v2.canonical,
    `relay-auth-v2:relay.example:${UUID}:${NONCE}`,
    `relay-auth-v1::${UUID}:${NONCE}`,
    `relay-auth-v1:relay.example:${UUID}`,
    `relay-auth-v1:relay.example:${UUID.toUpperCase()}:${NONCE}`,
    `relay-auth-v1:relay.example:${UUID.replace('4222', '1222')}:${NONCE}`,
    `relay-auth-v1:relay.example:${UUID}:${NONCE}=`,
    `relay-auth-v1:relay.example:${UUID}:${NONCE.slice(0, -1)}`,
    // Non-canonical: the last character has two spare bits that are not zero.
    `relay-auth-v1:relay.example:${UUID}:${NONCE.slice(0, -1)}9`,
    `relay-auth-v1:relay.example:${UUID}:${NONCE}\n`,
    ` relay-auth-v1:relay.example:${UUID}:${NONCE}`,
    `relay-auth-v1:relay.example/path:${UUID}:${NONCE}`,
    `relay-auth-v1:user@relay.example:${UUID}:${NONCE}`,
    `relay-auth-v1:a:b:c:${UUID}:${NONCE}`,
    `relay-auth-v1:relay.example:123456:${UUID}:${NONCE}`,
  ]
  for (const text of texts) {
    expect(parseAuthChallenge(text)).toBeUndefined()
    await expectCode('INVALID_CHALLENGE', () => signAuthChallenge(signing.privateKey, text))
    expect(
      await verifyAuthChallenge(signing.publicKey, text, encodeBase64(await sign(signing.privateKey, text))),
    ).toBe(false)
  }
})

test('parsing and verifying never throw, for any string', async () => {
  await fc.assert(
    fc.asyncProperty(anyString(), async (text) => {
      expect(parseAuthChallenge(text)).toBeUndefined()
      expect(await verifyAuthChallenge(signing.publicKey, text, text)).toBe(false)
      expect(await verifyAuthChallenge(signing.publicKey, challenge, text)).toBe(false)
      expect(await codeOf(() => signAuthChallenge(signing.privateKey, text))).toBe('INVALID_CHALLENGE')
    }),
  )
})
