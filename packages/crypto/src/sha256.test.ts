import { expect, test } from 'bun:test'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { encodeUtf8 } from './bytes.ts'
import { bytesToHex } from './hex.ts'
import { sha256, startSha256 } from './sha256.ts'
import { anyBytes } from './test-support.ts'

test('FIPS 180-4: its examples of none, one and two blocks, and a million characters', () => {
  const examples = {
    '': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    abc: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    [`${'a'.repeat(1_000_000)}`]: 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
  }
  for (const [text, digest] of Object.entries(examples))
    expect(bytesToHex(sha256(encodeUtf8(text)))).toBe(digest)
})

test('every length around the ends of blocks gives what noble gives', () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    expect(sha256(bytes)).toEqual(nobleSha256(bytes))
  }
})

test('what was begun goes on with any rest, again and again', () => {
  fc.assert(
    fc.property(anyBytes(), fc.array(anyBytes(), { maxLength: 5 }), (beginning, rests) => {
      const finish = startSha256(beginning)
      for (const rest of rests) expect(finish(rest)).toEqual(nobleSha256(Buffer.concat([beginning, rest])))
    }),
  )
})
