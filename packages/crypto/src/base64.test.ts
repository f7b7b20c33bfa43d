import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import standard from '../../../vectors/standards/rfc4648.json'
import { anyBytes, anyString, codeOf, expectCode } from '../test/expectations.ts'
import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from './base64.ts'
import { encodeUtf8 } from './bytes.ts'
import { hexToBytes } from './hex.ts'

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

  test('Base64url with padding, stray bits or a lone character is refused', async () => {
    for (const text of ['Zg==', 'Zh', 'Zm9', 'Z', 'Zm9vY'])
      await expectCode('INVALID_ENCODING', () => decodeBase64Url(text))
  })
})

test("encoded bytes decode to the same bytes, and the encoding equals the platform's", () => {
  fc.assert(
    fc.property(anyBytes(), (bytes) => {
      expect(decodeBase64(encodeBase64(bytes))).toEqual(new Uint8Array(bytes))
      expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(new Uint8Array(bytes))
      expect(encodeBase64(bytes)).toBe(btoa(String.fromCharCode(...bytes)))
    }),
  )
})

test('each value has exactly one encoding: every text that decodes is the one that encoding gives', async () => {
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
