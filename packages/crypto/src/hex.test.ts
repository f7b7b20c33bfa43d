import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyBytes, anyString, codeOf } from '../test/expectations.ts'
import { bytesToHex, hexToBytes } from './hex.ts'

test('RFC 4648, section 8: bytes survive hex, in upper and lower case', () => {
  fc.assert(
    fc.property(anyBytes(), (bytes) => {
      expect(hexToBytes(bytesToHex(bytes))).toEqual(new Uint8Array(bytes))
      expect(hexToBytes(bytesToHex(bytes).toUpperCase())).toEqual(new Uint8Array(bytes))
    }),
  )
})

test('text that is not hex is refused', async () => {
  for (const text of ['0', 'zz', '0x', ' 00', '00\n', 'é0'])
    expect(await codeOf(() => hexToBytes(text))).toBe('INVALID_ENCODING')
  await fc.assert(
    fc.asyncProperty(anyString(), async (text) =>
      expect([undefined, 'INVALID_ENCODING']).toContain(await codeOf(() => hexToBytes(text))),
    ),
  )
})
