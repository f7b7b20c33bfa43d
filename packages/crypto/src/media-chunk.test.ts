import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  anyBytes,
  codeOf,
  expectCode,
  fixedBytes,
  flipBit,
  randomBytes,
  sessionKey,
  vectors,
} from '../test/expectations.ts'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import {
  CHUNK_OVERHEAD_BYTES,
  ChunkReader,
  decryptChunk,
  encryptChunk,
  MAX_CHUNK_PLAINTEXT_BYTES,
  splitChunks,
} from './media-chunk.ts'

const seal = (plaintext: Uint8Array) => encryptChunk({ sessionKey, plaintext, randomBytes })
const open = (chunk: Uint8Array) => decryptChunk({ sessionKey, chunk })
const openAll = (chunks: readonly Uint8Array[]) => Promise.all(chunks.map(open))

test("the vector's plaintext encrypts to the vector's chunk and back", async () => {
  const { plaintext_utf8, nonce_hex, chunk_hex } = vectors.media_chunk_v1
  const plaintext = encodeUtf8(plaintext_utf8)
  expect(bytesToHex(await encryptChunk({ sessionKey, plaintext, randomBytes: fixedBytes(nonce_hex) }))).toBe(
    chunk_hex,
  )
  expect(await decryptChunk({ sessionKey, chunk: hexToBytes(chunk_hex) })).toEqual(plaintext)
})

test('a blob of several chunks is split again, in pieces of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyBytes(64), { maxLength: 6 }),
      fc.array(fc.integer({ min: 0, max: 40 })),
      async (plaintexts, sizes) => {
        const expected = plaintexts.map((bytes) => new Uint8Array(bytes))
        const blob = concatBytes(...(await Promise.all(plaintexts.map(seal))))
        expect(await openAll(splitChunks(blob))).toEqual(expected)

        const reader = new ChunkReader()
        const chunks: Uint8Array[] = []
        let at = 0
        for (const size of sizes) {
          chunks.push(...reader.push(blob.subarray(at, at + size)))
          at += size
        }
        chunks.push(...reader.push(blob.subarray(at)))
        reader.end()
        expect(await openAll(chunks)).toEqual(expected)
      },
    ),
  )
})

test('a chunk may arrive byte by byte', async () => {
  const plaintext = randomBytes(60_000)
  const chunk = await encryptChunk({
    sessionKey,
    plaintext: concatBytes(plaintext, plaintext, plaintext),
    randomBytes,
  })
  const reader = new ChunkReader()
  const chunks = Array.from(chunk.keys(), (at) => reader.push(chunk.subarray(at, at + 1))).flat()
  reader.end()
  expect(chunks).toHaveLength(1)
  expect(Bun.deepEquals(chunks[0], chunk)).toBe(true)
})

test('a blob that ends within a chunk is refused', async () => {
  const blob = concatBytes(await seal(encodeUtf8('one')), await seal(encodeUtf8('two')))
  const first = 3 + CHUNK_OVERHEAD_BYTES
  for (let length = 1; length < blob.length; length += 1) {
    if (length !== first) await expectCode('INVALID_CHUNK', () => splitChunks(blob.subarray(0, length)))
  }
  // A cut between two chunks is not noticed here; the digest in the media key reveals it.
  expect(await openAll(splitChunks(blob.subarray(0, first)))).toEqual([encodeUtf8('one')])
})

test('a chunk with any flipped bit is refused', async () => {
  const chunk = await seal(encodeUtf8('media chunk plaintext'))
  for (let bit = 0; bit < chunk.length * 8; bit += 1) {
    const code = await codeOf(() => open(flipBit(chunk, bit)))
    expect(code).toBe(bit < 32 ? 'INVALID_CHUNK' : 'DECRYPTION_FAILED')
  }
})

describe('lengths are checked before memory is reserved', () => {
  for (const length of [0, 15, MAX_CHUNK_PLAINTEXT_BYTES + 17, 0x7fffffff, 0xffffffff]) {
    test(`a length field of ${length} is refused`, async () => {
      const header = new Uint8Array(4)
      new DataView(header.buffer).setUint32(0, length)
      await expectCode('INVALID_CHUNK', () => splitChunks(header))
      await expectCode('INVALID_CHUNK', () => new ChunkReader().push(header))
      await expectCode('INVALID_CHUNK', () => open(concatBytes(header, new Uint8Array(40))))
    })
  }

  test('a chunk holds at most 5 MiB', async () => {
    const largest = new Uint8Array(MAX_CHUNK_PLAINTEXT_BYTES).fill(5)
    const chunk = await seal(largest)
    expect(chunk).toHaveLength(MAX_CHUNK_PLAINTEXT_BYTES + CHUNK_OVERHEAD_BYTES)
    expect(Bun.deepEquals(await open(chunk), largest)).toBe(true)
    await expectCode('INVALID_CHUNK', () => seal(new Uint8Array(MAX_CHUNK_PLAINTEXT_BYTES + 1)))
  })
})

test('any bytes are split into chunks or refused', async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes(), async (bytes) => {
      expect([undefined, 'INVALID_CHUNK']).toContain(await codeOf(() => splitChunks(bytes)))
      expect(['INVALID_CHUNK', 'DECRYPTION_FAILED']).toContain((await codeOf(() => open(bytes))) ?? 'opened')
    }),
  )
})

test('a chunk can be part of a larger buffer', async () => {
  const chunk = await seal(encodeUtf8('offset'))
  const buffer = concatBytes(new Uint8Array(7).fill(255), chunk, new Uint8Array(3).fill(255))
  expect(await open(buffer.subarray(7, 7 + chunk.length))).toEqual(encodeUtf8('offset'))
})

test('a Node Buffer is accepted as bytes and is not changed', async () => {
  const plaintext = Buffer.from('buffer')
  const chunk = Buffer.from(
    await encryptChunk({ sessionKey: Buffer.from(sessionKey), plaintext, randomBytes }),
  )
  const before = chunk.toString('hex')
  expect(new Uint8Array(await open(chunk))).toEqual(encodeUtf8('buffer'))
  expect(chunk.toString('hex')).toBe(before)
})

test('another key does not decrypt a chunk, and a key of the wrong size is refused', async () => {
  const chunk = await seal(new Uint8Array(3))
  await expectCode('DECRYPTION_FAILED', () => decryptChunk({ sessionKey: flipBit(sessionKey, 0), chunk }))
  await expectCode('INVALID_KEY', () => decryptChunk({ sessionKey: new Uint8Array(16), chunk }))
  await expectCode(
    'INVALID_KEY',
    async () => await encryptChunk({ sessionKey: new Uint8Array(0), plaintext: chunk, randomBytes }),
  )
})
