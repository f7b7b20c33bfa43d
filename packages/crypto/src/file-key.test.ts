import { expect, test } from 'bun:test'
import { codeOf, expectCode, flipBit, randomBytes } from '../test/expectations.ts'
import {
  FILE_CHUNK_BYTES,
  FILE_CHUNK_OVERHEAD_BYTES,
  newFileKey,
  openFileChunk,
  planFile,
  sealFileChunk,
} from './file-key.ts'
import { bytesToHex } from './hex.ts'

const key = new Uint8Array(32).fill(9)
const bytesOf = (length: number): Uint8Array => new Uint8Array(length).fill(1)

test('a file of any size is opened to itself, and its blob has the size of its class', async () => {
  for (const sizeBytes of [0, 1, 63, 64, 65, 1000, FILE_CHUNK_BYTES, FILE_CHUNK_BYTES + 1]) {
    const { chunks, sealedBytes } = planFile(sizeBytes)
    let [stored, opened] = [0, 0]
    for (let index = 0; index < chunks; index += 1) {
      const start = index * FILE_CHUNK_BYTES
      const plaintext = bytesOf(Math.min(FILE_CHUNK_BYTES, Math.max(0, sizeBytes - start)))
      const sealed = await sealFileChunk({ key, sizeBytes, index, plaintext })
      const found = await openFileChunk({ key, sizeBytes, index, sealed })
      expect(Buffer.compare(found, plaintext)).toBe(0)
      stored += sealed.length
      opened += found.length
    }
    expect([stored, opened]).toEqual([sealedBytes, sizeBytes])
  }
})

test('sizes of one class have one size of blob, and the largest file fits into what a relay takes', () => {
  expect(planFile(0)).toEqual({ chunks: 1, paddedBytes: 64, sealedBytes: 80 })
  expect(planFile(999)).toEqual(planFile(1000))
  const largest = planFile(20 * FILE_CHUNK_BYTES)
  expect(largest.chunks).toBe(20)
  expect(largest.sealedBytes).toBe(20 * (FILE_CHUNK_BYTES + FILE_CHUNK_OVERHEAD_BYTES))
})

test('the padding of a file may fill a chunk of its own', async () => {
  const sizeBytes = 8 * FILE_CHUNK_BYTES - 5 * 2 ** 19
  const { chunks, paddedBytes } = planFile(sizeBytes)
  expect(paddedBytes).toBeGreaterThanOrEqual(sizeBytes)
  const index = chunks - 1
  const plaintext = bytesOf(Math.max(0, sizeBytes - index * FILE_CHUNK_BYTES))
  const sealed = await sealFileChunk({ key, sizeBytes, index, plaintext })
  expect(await openFileChunk({ key, sizeBytes, index, sealed })).toEqual(new Uint8Array(plaintext))
})

test('a chunk of another place, another end, another file or another key does not open', async () => {
  const sizeBytes = 3 * FILE_CHUNK_BYTES
  const plaintext = bytesOf(FILE_CHUNK_BYTES)
  const sealed = await sealFileChunk({ key, sizeBytes, index: 1, plaintext })
  const refused = (wrong: object) =>
    codeOf(() => openFileChunk({ key, sizeBytes, index: 1, sealed, ...wrong }))
  expect(await refused({})).toBeUndefined()
  expect(await refused({ index: 0 })).toBe('DECRYPTION_FAILED')
  expect(await refused({ index: 2 })).toBe('DECRYPTION_FAILED')
  // Cut short: the chunk would be the last.
  expect(await refused({ sizeBytes: 2 * FILE_CHUNK_BYTES })).toBe('DECRYPTION_FAILED')
  expect(await refused({ key: flipBit(key, 0) })).toBe('DECRYPTION_FAILED')
  expect(await refused({ sealed: flipBit(sealed, 77) })).toBe('DECRYPTION_FAILED')
  expect(await refused({ sealed: sealed.subarray(1) })).toBe('INVALID_CHUNK')
})

test('the same chunk is sealed to the same bytes, and each key is new', async () => {
  const chunk = { key, sizeBytes: 3, index: 0, plaintext: bytesOf(3) }
  expect(await sealFileChunk(chunk)).toEqual(await sealFileChunk(chunk))
  expect(bytesToHex(newFileKey(randomBytes))).not.toBe(bytesToHex(newFileKey(randomBytes)))
})

test('invalid arguments are refused', async () => {
  const chunk = { key, sizeBytes: 3, index: 0, plaintext: bytesOf(3) }
  await expectCode('INVALID_CHUNK', () => sealFileChunk({ ...chunk, plaintext: bytesOf(4) }))
  await expectCode('INVALID_KEY', () => sealFileChunk({ ...chunk, key: bytesOf(31) }))
  for (const wrong of [
    { index: 1 },
    { index: -1 },
    { index: 0.5 },
    { sizeBytes: -1 },
    { sizeBytes: 2 ** 53 },
  ])
    await expectCode('INVALID_ARGUMENT', () => sealFileChunk({ ...chunk, ...wrong }))
  await expectCode('INVALID_ARGUMENT', () => newFileKey(() => bytesOf(31)))
})
