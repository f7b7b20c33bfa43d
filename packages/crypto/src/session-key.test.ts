import { describe, expect, test } from 'bun:test'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import standard from '../../../vectors/standards/rfc5869.json'
import { expectCode, identity, vectors } from '../test/expectations.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { deriveSessionKey } from './session-key.ts'

describe('RFC 5869', () => {
  for (const { name, ikm, salt, info, length, okm } of standard.vectors) {
    test(`appendix ${name}`, () => {
      expect(bytesToHex(hkdf(sha256, hexToBytes(ikm), hexToBytes(salt), hexToBytes(info), length))).toBe(okm)
    })
  }
})

const { conv_id: conversationId, session_key_hex } = vectors.session
const a = identity(vectors.session.a).agreement
const b = identity(vectors.session.b).agreement

test("both friends derive the vector's key", async () => {
  const mine = await deriveSessionKey({
    privateKey: a.privateKey,
    theirPublicKey: b.publicKey,
    conversationId,
  })
  const theirs = await deriveSessionKey({
    privateKey: b.privateKey,
    theirPublicKey: a.publicKey,
    conversationId,
  })
  expect(bytesToHex(mine)).toBe(session_key_hex)
  expect(bytesToHex(theirs)).toBe(session_key_hex)
})

test('another conversation has another key', async () => {
  const other = await deriveSessionKey({
    privateKey: a.privateKey,
    theirPublicKey: b.publicKey,
    conversationId: `${conversationId}x`,
  })
  expect(bytesToHex(other)).not.toBe(session_key_hex)
})

test('a public key that gives a secret of zeros is refused', async () => {
  const theirPublicKey = new Uint8Array(32)
  await expectCode('WEAK_KEY', () =>
    deriveSessionKey({ privateKey: a.privateKey, theirPublicKey, conversationId }),
  )
})

test('inputs of the wrong size are refused', async () => {
  const good = { privateKey: a.privateKey, theirPublicKey: b.publicKey, conversationId }
  await expectCode('INVALID_KEY', () => deriveSessionKey({ ...good, privateKey: new Uint8Array(31) }))
  await expectCode('INVALID_KEY', () => deriveSessionKey({ ...good, theirPublicKey: new Uint8Array(33) }))
  await expectCode('INVALID_ARGUMENT', () => deriveSessionKey({ ...good, conversationId: '' }))
})
