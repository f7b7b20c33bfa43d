import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import standard from '../../../vectors/standards/rfc4648.json'
import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from './base64.ts'
import { encodeUtf8 } from './bytes.ts'
import { hexToBytes } from './hex.ts'
import { anyBytes, anyString, codeOf, expectCode } from './test-support.ts'

describe('RFC 4648', () => {
  for (const { text, base64 } of standard.vectors) {
    test(`section 10: "${text}" is "${base64}"`, () => {
      expect(encodeBase64(encodeUtf8(text))).toBe(base64)
      expect(decodeBase64(base64)).toEqual(encodeUtf8(text))
      expect(encodeBase64Url(encodeUtf8(text))).toBe(base64.replaceAll('=', ''))
      expect(decodeBase64Url(base64.replaceAll('=', ''))).toEqual(encodeUtf8(text))
    })
  }

  test('section 5: the two alphabets differ in two characters', async () => {
    const { bytes_hex, base64, base64url } = standard.alphabets
    expect(encodeBase64(hexToBytes(bytes_hex))).toBe(base64)
    expect(encodeBase64Url(hexToBytes(bytes_hex))).toBe(base64url)
    await expectCode('INVALID_ENCODING', () => decodeBase64(base64url))
    await expectCode('INVALID_ENCODING', () => decodeBase64Url(base64))
  })

  for (const text of standard.non_canonical) {
    test(`section 3: ${JSON.stringify(text)} is refused`, async () => {
      await expectCode('INVALID_ENCODING', () => decodeBase64(text))
    })
  }

  test('Base64url has no padding, no stray bits and no lone character', async () => {
    for (const text of ['Zg==', 'Zh', 'Zm9', 'Z', 'Zm9vY'])
      await expectCode('INVALID_ENCODING', () => decodeBase64Url(text))
  })
})

test('what is encoded decodes to itself, and as the platform encodes it', () => {
  fc.assert(
    fc.property(anyBytes(), (bytes) => {
      expect(decodeBase64(encodeBase64(bytes))).toEqual(new Uint8Array(bytes))
      expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(new Uint8Array(bytes))
      expect(encodeBase64(bytes)).toBe(btoa(String.fromCharCode(...bytes)))
    }),
  )
})

test('one value has one text: whatever decodes is what would have been encoded', async () => {
  const lookalike = fc.string({ unit: fc.constantFrom(...'ABCZabcz0189+/-_= \n'), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(lookalike, anyString()), async (text) => {
      const plain = await codeOf(() => expect(encodeBase64(decodeBase64(text))).toBe(text))
      const url = await codeOf(() => expect(encodeBase64Url(decodeBase64Url(text))).toBe(text))
      for (const code of [plain, url]) expect([undefined, 'INVALID_ENCODING']).toContain(code)
    }),
    { numRuns: 2000 },
  )
})
