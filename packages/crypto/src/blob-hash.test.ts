import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { anyBytes } from '../test/expectations.ts'
import { createBlobHash } from './blob-hash.ts'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { bytesToHex } from './hex.ts'

test('the hash of a message in pieces is its SHA-256 from FIPS 180-2', () => {
  const hash = createBlobHash()
  for (const piece of ['a', '', 'bc']) hash.update(encodeUtf8(piece))
  expect(bytesToHex(hash.digest())).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('the hash does not depend on how the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(anyBytes(200), { maxLength: 8 }), (pieces) => {
      const hash = createBlobHash()
      for (const piece of pieces) hash.update(piece)
      expect(bytesToHex(hash.digest())).toBe(
        createHash('sha256')
          .update(concatBytes(...pieces))
          .digest('hex'),
      )
    }),
  )
})
