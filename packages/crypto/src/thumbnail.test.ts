import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeBase64 } from './base64.ts'
import { thumbnailOf } from './thumbnail.ts'

const PREFIX = 'data:image/jpeg;base64,'

/** A JPEG's bytes up to and including the beginning of its frame header. */
function jpeg(
  width: number,
  height: number,
  parts: { sof?: number; before?: readonly number[] } = {},
): number[] {
  const { sof = 0xc0, before = [0xff, 0xe0, 0, 4, 7, 7] } = parts
  return [0xff, 0xd8, ...before, 0xff, sof, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]
}

function shown(bytes: readonly number[]): boolean {
  return thumbnailOf(PREFIX + encodeBase64(Uint8Array.from(bytes))) !== undefined
}

test('a JPEG up to 320 pixels wide and high is a thumbnail, whatever kind of frame a browser knows', () => {
  for (const sof of [0xc0, 0xc1, 0xc2]) expect(shown(jpeg(320, 320, { sof }))).toBe(true)
  for (const [width, height] of [
    [321, 1],
    [1, 321],
    [65_535, 65_535],
    [0, 1],
    [1, 0],
  ] as const)
    expect(shown(jpeg(width, height))).toBe(false)
  // Lossless and arithmetic frames.
  for (const sof of [0xc3, 0xc5, 0xc9, 0xca, 0xf7]) expect(shown(jpeg(8, 8, { sof }))).toBe(false)
})

test('a frame header that another decoder would find elsewhere is not believed', () => {
  const huge = jpeg(65_535, 65_535).slice(2)
  // A restart and a temporary marker have no length; a decoder goes on after them and finds the huge frame.
  for (const marker of [0xd0, 0xd7, 0x01])
    expect(shown(jpeg(8, 8, { before: [0xff, marker, 0, huge.length + 2, ...huge] }))).toBe(false)
  // Fill bytes, no marker, a second start, an end.
  for (const before of [[0xff], [0], [0xff, 0xd8], [0xff, 0xd9]])
    expect(shown(jpeg(8, 8, { before }))).toBe(false)
  // Inside a comment it is no header.
  expect(shown(jpeg(8, 8, { before: [0xff, 0xfe, 0, huge.length + 2, ...huge] }))).toBe(true)
})

test('the bytes are bounded, and the Base64 is the one that browsers read', () => {
  const filled = (length: number) => {
    const start = jpeg(8, 8)
    return [...start, ...Array.from({ length: length - start.length }, () => 0)]
  }
  expect(shown(filled(16_384))).toBe(true)
  expect(shown(filled(16_385))).toBe(false)
  const base64 = encodeBase64(Uint8Array.from(jpeg(8, 8)))
  expect(thumbnailOf(base64)).toBe(PREFIX + base64)
  for (const text of [
    ` ${base64}`,
    `${base64}=`,
    `${base64}"onerror="`,
    PREFIX,
    '',
    `data:image/png;base64,${base64}`,
  ])
    expect(thumbnailOf(text)).toBeUndefined()
})

test('any bytes are a thumbnail or none, without an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      for (const start of [[], [0xff, 0xd8], jpeg(8, 8).slice(0, -2)])
        thumbnailOf(encodeBase64(Uint8Array.from([...start, ...bytes])))
    }),
  )
})
