import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyBytes, expectCode } from '../test/expectations.ts'
import { MAX_UNPADDED_BYTES, MIN_PADDED_BYTES, pad, paddedLength, unpad } from './padding.ts'

test('any content is unpadded to itself, and its length is that of its class', () => {
  const ends = fc.constantFrom([], [0], [0x80], [0x80, 0, 0], [0, 0x80])
  fc.assert(
    fc.property(anyBytes(3000), ends, (start, end) => {
      const content = Uint8Array.of(...start, ...end)
      const padded = pad(content)
      expect(padded.length).toBe(paddedLength(content.length + 1))
      expect(unpad(padded)).toEqual(content)
    }),
  )
})

test('lengths are those of the paper, computed on bits', () => {
  const byBits = (length: number): number => {
    const exponent = 31 - Math.clz32(length)
    const mask = (1 << (exponent - (32 - Math.clz32(exponent)))) - 1
    return (length + mask) & ~mask
  }
  for (let length = MIN_PADDED_BYTES + 1; length < 70_000; length += 1)
    expect(paddedLength(length)).toBe(byBits(length))
  fc.assert(
    fc.property(fc.integer({ min: 65, max: 2 ** 30 }), (length) => {
      expect(paddedLength(length)).toBe(byBits(length))
    }),
  )
  expect([0, 1, 64].map(paddedLength)).toEqual([64, 64, 64])
  // The largest file that a relay stores has a length of its own.
  expect(paddedLength(100 * 2 ** 20)).toBe(100 * 2 ** 20)
})

test('a padded length is at most 12% longer, stays as it is when padded again, and never falls', () => {
  fc.assert(
    fc.property(fc.integer({ min: MIN_PADDED_BYTES, max: 2 ** 40 }), (length) => {
      const padded = paddedLength(length)
      expect(padded).toBeGreaterThanOrEqual(length)
      expect(padded).toBeLessThanOrEqual(length * 1.12)
      expect(paddedLength(padded)).toBe(padded)
      expect(paddedLength(length + 1)).toBeGreaterThanOrEqual(padded)
    }),
    { numRuns: 2000 },
  )
})

test('every other padding is refused', async () => {
  const padded = pad(Uint8Array.of(1, 2, 3))
  const altered = (at: number, byte: number): Uint8Array => {
    const copy = new Uint8Array(padded)
    copy[at] = byte
    return copy
  }
  const refused = [
    new Uint8Array(0),
    new Uint8Array(MIN_PADDED_BYTES),
    padded.subarray(0, 63),
    new Uint8Array([...padded, 0]),
    new Uint8Array([...padded, ...new Uint8Array(32)]),
    altered(3, 0x81),
    altered(3, 0),
    altered(63, 1),
    // A megabyte of zeros, and one that is too long.
    new Uint8Array(2 ** 20),
    new Uint8Array(2 ** 21).fill(0x80, MAX_UNPADDED_BYTES + 1, MAX_UNPADDED_BYTES + 2),
  ]
  for (const bytes of refused) await expectCode('INVALID_ENCODING', () => unpad(bytes))
  // The end of a content that another length of content would have.
  expect(unpad(altered(63, 0x80)).length).toBe(63)
})

test('content that is too long or no bytes is refused', async () => {
  const most = new Uint8Array(MAX_UNPADDED_BYTES)
  expect(unpad(pad(most)).length).toBe(MAX_UNPADDED_BYTES)
  await expectCode('INVALID_ARGUMENT', () => pad(new Uint8Array(MAX_UNPADDED_BYTES + 1)))
  await expectCode('INVALID_ARGUMENT', () => pad('text' as never))
  for (const length of [-1, 0.5, Number.NaN, 2 ** 53])
    await expectCode('INVALID_ARGUMENT', () => paddedLength(length))
})
