import { describe, expect, test } from 'bun:test'
import { gcm } from '@noble/ciphers/aes.js'
import fc from 'fast-check'
import standard from '../../../vectors/standards/aes-256-gcm.json'
import {
  anyBytes,
  anyString,
  anyText,
  codeOf,
  expectCode,
  fixedBytes,
  flipBit,
  randomBytes,
  sessionKey,
  vectors,
} from '../test/expectations.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { concatBytes } from './bytes.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { decryptMessage, encryptMessage } from './message-envelope.ts'

describe('AES-256-GCM (McGrew and Viega)', () => {
  for (const { name, key, iv, plaintext, aad, ciphertext, tag } of standard.vectors) {
    test(name, () => {
      const cipher = () => gcm(hexToBytes(key), hexToBytes(iv), hexToBytes(aad))
      expect(bytesToHex(cipher().encrypt(hexToBytes(plaintext)))).toBe(ciphertext + tag)
      expect(bytesToHex(cipher().decrypt(hexToBytes(ciphertext + tag)))).toBe(plaintext)
    })
  }

  test('Test Case 13 is the message with the empty text', async () => {
    const payload = await encryptMessage({
      sessionKey: new Uint8Array(32),
      plaintext: '',
      randomBytes: fixedBytes('00'.repeat(12)),
    })
    expect(bytesToHex(decodeBase64(payload))).toBe(`${'00'.repeat(12)}530f8afbc74536b9a963b4f1c4cb738b`)
  })
})

for (const { plaintext, nonce_hex, payload_b64 } of vectors.messages_v1) {
  test(`the payload of ${plaintext} equals the vector`, async () => {
    expect(await encryptMessage({ sessionKey, plaintext, randomBytes: fixedBytes(nonce_hex) })).toBe(
      payload_b64,
    )
    expect(await decryptMessage({ sessionKey, payload: payload_b64 })).toBe(plaintext)
  })
}

test('a text decrypts to the same text, including byte order marks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyText(), fc.constant('\ufefftext')), async (plaintext) => {
      expect(
        await decryptMessage({
          sessionKey,
          payload: await encryptMessage({ sessionKey, plaintext, randomBytes }),
        }),
      ).toBe(plaintext)
    }),
  )
})

test('a lone surrogate, which UTF-8 cannot encode, arrives as U+FFFD', async () => {
  const payload = await encryptMessage({ sessionKey, plaintext: 'a\ud800b', randomBytes })
  expect(await decryptMessage({ sessionKey, payload })).toBe('a\ufffdb')
})

test('a payload with any flipped bit or any missing byte is refused', async () => {
  const sealed = decodeBase64(await encryptMessage({ sessionKey, plaintext: 'déjà vu 🔐', randomBytes }))
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    await expectCode(
      'DECRYPTION_FAILED',
      async () => await decryptMessage({ sessionKey, payload: encodeBase64(flipBit(sealed, bit)) }),
    )
  }
  for (let length = 0; length < sealed.length; length += 1) {
    await expectCode(
      'DECRYPTION_FAILED',
      async () => await decryptMessage({ sessionKey, payload: encodeBase64(sealed.subarray(0, length)) }),
    )
  }
})

test('another key does not decrypt a message', async () => {
  const payload = await encryptMessage({ sessionKey, plaintext: 'hello', randomBytes })
  await expectCode('DECRYPTION_FAILED', () => decryptMessage({ sessionKey: flipBit(sessionKey, 3), payload }))
})

test('every invalid payload gives the same error without details', async () => {
  const payloads = fc.oneof(anyString(), anyBytes().map(encodeBase64))
  const messages = new Set<string>()
  await fc.assert(
    fc.asyncProperty(payloads, async (payload) => {
      try {
        await decryptMessage({ sessionKey, payload })
        throw new Error('decrypted')
      } catch (error) {
        messages.add(String(error))
      }
    }),
  )
  expect([...messages]).toEqual(['CryptoError: the message could not be decrypted'])
})

test('decrypted bytes that are not UTF-8 are refused, not repaired', async () => {
  const nonce = new Uint8Array(12)
  const sealed = gcm(sessionKey, nonce).encrypt(new Uint8Array([0xc3, 0x28]))
  await expectCode(
    'DECRYPTION_FAILED',
    async () => await decryptMessage({ sessionKey, payload: encodeBase64(concatBytes(nonce, sealed)) }),
  )
})

test('a key of the wrong size and a random source with the wrong number of bytes are refused', async () => {
  for (const length of [0, 16, 24, 31, 33]) {
    const short = new Uint8Array(length)
    expect(await codeOf(() => encryptMessage({ sessionKey: short, plaintext: '', randomBytes }))).toBe(
      'INVALID_KEY',
    )
    expect(await codeOf(() => decryptMessage({ sessionKey: short, payload: '' }))).toBe('INVALID_KEY')
  }
  for (const source of [() => new Uint8Array(11), () => new Uint8Array(16)]) {
    await expectCode('INVALID_ARGUMENT', () =>
      encryptMessage({ sessionKey, plaintext: '', randomBytes: source }),
    )
  }
})

test('each message gets a new nonce', async () => {
  const payloads = Array.from(
    { length: 50 },
    async () => await encryptMessage({ sessionKey, plaintext: 'same', randomBytes }),
  )
  expect(new Set(payloads).size).toBe(50)
})
