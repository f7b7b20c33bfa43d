import { expect, test } from 'bun:test'
import { expectCode, flipBit } from '../test/expectations.ts'
import { encodeUtf8 } from './bytes.ts'
import { appendMediaDigest, checkMediaDigest, isMediaKey } from './media-key.ts'

const KEY = 'm_0123456789abcdefghijkl'

test('a digest shows whether the blob was altered; without a digest the blob is unproven', async () => {
  const blob = encodeUtf8('abc')
  const key = await appendMediaDigest(KEY, blob)
  // FIPS 180-2, appendix B.1: SHA-256("abc").
  expect(key).toBe(`${KEY}.hungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0`)
  expect(isMediaKey(key)).toBe(true)
  expect(await checkMediaDigest(key, blob)).toBe('verified')
  expect(await checkMediaDigest(key, flipBit(blob, 9))).toBe('altered')
  expect(await checkMediaDigest(key, blob.subarray(0, 2))).toBe('altered')
  expect(await checkMediaDigest(KEY, blob)).toBe('unproven')
})

test('a digest can be appended once, and only to a media key', async () => {
  const blob = new Uint8Array(1)
  const key = await appendMediaDigest(KEY, blob)
  await expectCode('INVALID_ARGUMENT', () => appendMediaDigest(key, blob))
  await expectCode('INVALID_ARGUMENT', () => appendMediaDigest('a|b', blob))
  for (const text of ['', 'a|b', 'a/b', 'a b', 'ä', 7, undefined]) expect(isMediaKey(text)).toBe(false)
})
