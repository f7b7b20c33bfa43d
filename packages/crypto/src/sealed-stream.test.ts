import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCode, flipBit, randomBytes, vectors } from '../test/expectations.ts'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { primitives } from './primitives.ts'
import { SealedStream, STREAM_CHUNK_BYTES, STREAM_CHUNK_OVERHEAD_BYTES } from './sealed-stream.ts'

const key = randomBytes(32)
const context = encodeUtf8('context')
const stream = () => new SealedStream({ key, context })
const full = randomBytes(STREAM_CHUNK_BYTES)

/** Two full chunks and a last one. */
async function threeChunks() {
  const writer = stream()
  return [
    await writer.seal(full, { isLast: false }),
    await writer.seal(full, { isLast: false }),
    await writer.seal(full.subarray(0, 5), { isLast: true }),
  ] as const
}

test("the vector's plaintexts seal to the vector's chunks and back", async () => {
  const vector = vectors.sealed_stream_v1
  const input = { key: hexToBytes(vector.key_hex), context: encodeUtf8(vector.context_utf8) }
  const first = new Uint8Array(STREAM_CHUNK_BYTES).fill(0x61)
  const last = encodeUtf8(vector.last_plaintext_utf8)
  const writer = new SealedStream(input)
  const sealed = await writer.seal(first, { isLast: false })
  const { sha256 } = await primitives()
  expect(bytesToHex(await sha256(sealed))).toBe(vector.first_chunk_sha256_hex)
  expect(bytesToHex(sealed.subarray(-STREAM_CHUNK_OVERHEAD_BYTES))).toBe(vector.first_chunk_tag_hex)
  expect(bytesToHex(await writer.seal(last, { isLast: true }))).toBe(vector.last_chunk_hex)

  const reader = new SealedStream(input)
  expect(Bun.deepEquals(await reader.open(sealed, { isLast: false }), first)).toBe(true)
  expect(await reader.open(hexToBytes(vector.last_chunk_hex), { isLast: true })).toEqual(last)
})

test('a chunk opens only at its place, and as the last one only if it is', async () => {
  const [one, two, last] = await threeChunks()
  await expectCode('DECRYPTION_FAILED', () => stream().open(two, { isLast: false }))
  await expectCode('DECRYPTION_FAILED', () => stream().open(one, { isLast: true }))
  await expectCode('DECRYPTION_FAILED', () => stream().open(last, { isLast: true }))
  const reader = stream()
  await reader.open(one, { isLast: false })
  await expectCode('DECRYPTION_FAILED', () => reader.open(one, { isLast: false }))
  const cut = stream()
  await cut.open(one, { isLast: false })
  await expectCode('DECRYPTION_FAILED', () => cut.open(two, { isLast: true }))
})

test('an altered chunk, another key and another context are refused', async () => {
  const sealed = await stream().seal(full.subarray(0, 20), { isLast: true })
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: sealed.length * 8 - 1 }), async (bit) => {
      await expectCode('DECRYPTION_FAILED', () => stream().open(flipBit(sealed, bit), { isLast: true }))
    }),
  )
  for (const other of [
    { key: randomBytes(32), context },
    { key, context: encodeUtf8('other') },
  ])
    await expectCode('DECRYPTION_FAILED', () => new SealedStream(other).open(sealed, { isLast: true }))
})

test('a chunk of a wrong length, and one after the last, are refused', async () => {
  const longer = concatBytes(full, new Uint8Array(1))
  for (const [bytes, isLast] of [
    [new Uint8Array(0), true],
    [longer, true],
    [longer, false],
    [full.subarray(1), false],
  ] as const) {
    await expectCode('INVALID_CHUNK', async () => stream().seal(bytes, { isLast }))
    const sealed = concatBytes(bytes, new Uint8Array(STREAM_CHUNK_OVERHEAD_BYTES))
    await expectCode('INVALID_CHUNK', async () => stream().open(sealed, { isLast }))
  }
  const ended = stream()
  await ended.seal(full, { isLast: true })
  await expectCode('INVALID_CHUNK', async () => ended.seal(full, { isLast: true }))
  await expectCode('INVALID_KEY', () => new SealedStream({ key: new Uint8Array(16), context }))
})
