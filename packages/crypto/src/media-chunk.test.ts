import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
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
import {
  anyBytes,
  codeOf,
  expectCode,
  fixedBytes,
  flipBit,
  randomBytes,
  sessionKey,
  vectors,
} from './test-support.ts'

const seal = (plaintext: Uint8Array) => encryptChunk({ sessionKey, plaintext, randomBytes })
const open = (chunk: Uint8Array) => decryptChunk({ sessionKey, chunk })
const openAll = (chunks: readonly Uint8Array[]) => Promise.all(chunks.map(open))

test('the chunk of the vectors', async () => {
  const { plaintext_utf8, nonce_hex, chunk_hex } = vectors.media_chunk_v1
  const plaintext = encodeUtf8(plaintext_utf8)
  expect(bytesToHex(await encryptChunk({ sessionKey, plaintext, randomBytes: fixedBytes(nonce_hex) }))).toBe(
    chunk_hex,
  )
  expect(await decryptChunk({ sessionKey, chunk: hexToBytes(chunk_hex) })).toEqual(plaintext)
})

test('chunks one after another come apart again, in pieces of any size', async () => {
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

test('a blob cut within a chunk is noticed, byte by byte', async () => {
  const blob = concatBytes(await seal(encodeUtf8('one')), await seal(encodeUtf8('two')))
  const first = 3 + CHUNK_OVERHEAD_BYTES
  for (let length = 1; length < blob.length; length += 1) {
    if (length !== first) await expectCode('INVALID_CHUNK', () => splitChunks(blob.subarray(0, length)))
  }
  // Between two chunks nothing tells: this is what the digest in a media key is for.
  expect(await openAll(splitChunks(blob.subarray(0, first)))).toEqual([encodeUtf8('one')])
})

test('any bit turned over in a chunk is refused', async () => {
  const chunk = await seal(encodeUtf8('media chunk plaintext'))
  for (let bit = 0; bit < chunk.length * 8; bit += 1) {
    const code = await codeOf(() => open(flipBit(chunk, bit)))
    expect(code).toBe(bit < 32 ? 'INVALID_CHUNK' : 'DECRYPTION_FAILED')
  }
})

describe('lengths are checked before anything is held', () => {
  for (const length of [0, 15, MAX_CHUNK_PLAINTEXT_BYTES + 17, 0x7fffffff, 0xffffffff]) {
    test(`a length field of ${length}`, async () => {
      const header = new Uint8Array(4)
      new DataView(header.buffer).setUint32(0, length)
      await expectCode('INVALID_CHUNK', () => splitChunks(header))
      await expectCode('INVALID_CHUNK', () => new ChunkReader().push(header))
      await expectCode('INVALID_CHUNK', () => open(concatBytes(header, new Uint8Array(40))))
    })
  }

  test('5 MiB is the most a chunk holds', async () => {
    const largest = new Uint8Array(MAX_CHUNK_PLAINTEXT_BYTES).fill(5)
    const chunk = await seal(largest)
    expect(chunk).toHaveLength(MAX_CHUNK_PLAINTEXT_BYTES + CHUNK_OVERHEAD_BYTES)
    expect(Bun.deepEquals(await open(chunk), largest)).toBe(true)
    await expectCode('INVALID_CHUNK', () => seal(new Uint8Array(MAX_CHUNK_PLAINTEXT_BYTES + 1)))
  })
})

test('any bytes split into chunks or are refused', async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes(), async (bytes) => {
      expect([undefined, 'INVALID_CHUNK']).toContain(await codeOf(() => splitChunks(bytes)))
      expect(['INVALID_CHUNK', 'DECRYPTION_FAILED']).toContain((await codeOf(() => open(bytes))) ?? 'opened')
    }),
  )
})

test('a chunk within a larger buffer is read from where it starts', async () => {
  const chunk = await seal(encodeUtf8('offset'))
  const buffer = concatBytes(new Uint8Array(7).fill(255), chunk, new Uint8Array(3).fill(255))
  expect(await open(buffer.subarray(7, 7 + chunk.length))).toEqual(encodeUtf8('offset'))
})

test('a Node Buffer serves as bytes like any other, and is left as it was', async () => {
  const plaintext = Buffer.from('buffer')
  const chunk = Buffer.from(
    await encryptChunk({ sessionKey: Buffer.from(sessionKey), plaintext, randomBytes }),
  )
  const before = chunk.toString('hex')
  expect(new Uint8Array(await open(chunk))).toEqual(encodeUtf8('buffer'))
  expect(chunk.toString('hex')).toBe(before)
})

test('another key opens nothing, and what is no key is said to be none', async () => {
  const chunk = await seal(new Uint8Array(3))
  await expectCode('DECRYPTION_FAILED', () => decryptChunk({ sessionKey: flipBit(sessionKey, 0), chunk }))
  await expectCode('INVALID_KEY', () => decryptChunk({ sessionKey: new Uint8Array(16), chunk }))
  await expectCode(
    'INVALID_KEY',
    async () => await encryptChunk({ sessionKey: new Uint8Array(0), plaintext: chunk, randomBytes }),
  )
})
