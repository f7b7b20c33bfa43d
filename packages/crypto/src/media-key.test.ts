import { expect, test } from 'bun:test'
import { encodeUtf8 } from './bytes.ts'
import { appendMediaDigest, checkMediaDigest, isMediaKey } from './media-key.ts'
import { expectCode, flipBit } from './test-support.ts'

const KEY = 'm_0123456789abcdefghijkl'

test('a digest proves the blob, and its absence proves nothing', async () => {
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

test('a key takes one digest, and a key it must be', async () => {
  const blob = new Uint8Array(1)
  const key = await appendMediaDigest(KEY, blob)
  await expectCode('INVALID_ARGUMENT', () => appendMediaDigest(key, blob))
  await expectCode('INVALID_ARGUMENT', () => appendMediaDigest('a|b', blob))
  for (const text of ['', 'a|b', 'a/b', 'a b', 'ä', 7, undefined]) expect(isMediaKey(text)).toBe(false)
})
