import { expect, test } from 'bun:test'
import { expectCode, fixedBytes, flipBit, randomBytes } from '../test/expectations.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { encodeUtf8 } from './bytes.ts'
import { hexToBytes } from './hex.ts'
import { openValue, sealValue } from './sealed-value.ts'

const key = new Uint8Array(32).fill(7)

test('a sealed value is AES-256-GCM with the context as additional data', async () => {
  // The key, nonce and plaintext of test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation".
  // The ciphertext is the paper's. The context differs, because it is text here; so the tag differs too, and
  // OpenSSL gives the same one.
  const sealed = await sealValue({
    key: hexToBytes('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308'),
    secret: hexToBytes(
      'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
    ),
    context: 'context',
    randomBytes: fixedBytes('cafebabefacedbaddecaf888'),
  })
  expect(sealed).toBe(
    encodeBase64(
      hexToBytes(
        'cafebabefacedbaddecaf888522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662f4fb48aeaca8c36b048a22ab76fac68a',
      ),
    ),
  )
})

test('a value opens only with its key and its context', async () => {
  const secret = encodeUtf8('the secret')
  const sealed = await sealValue({ key, secret, context: 'here', randomBytes })
  expect(await openValue({ key, sealed, context: 'here' })).toEqual(secret)
  await expectCode('DECRYPTION_FAILED', () => openValue({ key, sealed, context: 'there' }))
  await expectCode('DECRYPTION_FAILED', () => openValue({ key: new Uint8Array(32), sealed, context: 'here' }))
})

test('a value that was altered or cut short, and other text, does not open', async () => {
  const sealed = await sealValue({ key, secret: encodeUtf8('s'), context: 'here', randomBytes })
  const bytes = decodeBase64(sealed)
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const altered = encodeBase64(flipBit(bytes, bit))
    await expectCode('DECRYPTION_FAILED', () => openValue({ key, sealed: altered, context: 'here' }))
  }
  for (const text of ['', 'rubbish!', sealed.slice(0, -4), encodeBase64(bytes.subarray(0, 27))])
    await expectCode('DECRYPTION_FAILED', () => openValue({ key, sealed: text, context: 'here' }))
})

test('invalid arguments are refused', async () => {
  const secret = new Uint8Array(1)
  await expectCode('INVALID_KEY', () =>
    sealValue({ key: new Uint8Array(16), secret, context: 'here', randomBytes }),
  )
  await expectCode('INVALID_ARGUMENT', () => sealValue({ key, secret, context: '', randomBytes }))
})
