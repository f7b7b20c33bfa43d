import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyBytes, anyText, expectCode } from '../test/expectations.ts'
import { ByteReader, ByteWriter } from './byte-record.ts'
import { bytesToHex, hexToBytes } from './hex.ts'

test('every value is read as it was written', () => {
  const optional = fc.option(fc.maxSafeNat(), { nil: undefined })
  fc.assert(
    fc.property(
      fc.maxSafeNat(),
      fc.boolean(),
      anyBytes(),
      anyText(),
      optional,
      fc.array(fc.maxSafeNat()),
      (number, flag, bytes, text, maybe, list) => {
        const writer = new ByteWriter().number(number).u64(number).flag(flag).bytes(bytes).text(text)
        writer.optional(maybe, (value) => writer.number(value)).list(list, (value) => writer.number(value))
        const reader = new ByteReader(writer.fixed(bytes).done())
        expect([reader.number(), reader.u64(), reader.flag()]).toEqual([number, number, flag])
        expect([reader.bytes(), reader.text()]).toEqual([new Uint8Array(bytes), text])
        expect(reader.optional(() => reader.number())).toBe(maybe)
        expect(reader.list(() => reader.number())).toEqual(list)
        expect(reader.fixed(bytes.length)).toEqual(new Uint8Array(bytes))
        expect(reader.isAtEnd).toBe(true)
        reader.end()
      },
    ),
  )
})

test('numbers have one form: the shortest, up to 2^53 - 1', async () => {
  const forms = {
    0: '00',
    127: '7f',
    128: '8001',
    300: 'ac02',
    [Number.MAX_SAFE_INTEGER]: 'ffffffffffffff0f',
  }
  for (const [value, hex] of Object.entries(forms)) {
    expect(bytesToHex(new ByteWriter().number(Number(value)).done())).toBe(hex)
    expect(new ByteReader(hexToBytes(hex)).number()).toBe(Number(value))
  }
  const refused = ['', '80', '8000', 'ff00', 'ffffffffffffff10', 'ffffffffffffffff', 'ffffffffffffffff01']
  for (const hex of refused)
    await expectCode('INVALID_ENCODING', () => new ByteReader(hexToBytes(hex)).number())
  await expectCode('INVALID_ENCODING', () => new ByteReader(hexToBytes('0020000000000000')).u64())
  for (const value of [-1, 0.5, Number.NaN, 2 ** 53]) {
    await expectCode('INVALID_ARGUMENT', () => new ByteWriter().number(value))
    await expectCode('INVALID_ARGUMENT', () => new ByteWriter().u64(value))
  }
})

test('bytes that no writer wrote are refused', async () => {
  const reads: Record<string, (reader: ByteReader) => unknown> = {
    '02': (reader) => reader.flag(),
    '0301': (reader) => reader.bytes(),
    '02c328': (reader) => reader.text(),
    '0100': (reader) => reader.fixed(3),
    '00': (reader) => reader.end(),
    // A list of 2^53 - 1 values.
    ffffffffffffff0f: (reader) => reader.list(() => reader.number()),
  }
  for (const [hex, read] of Object.entries(reads))
    await expectCode('INVALID_ENCODING', () => read(new ByteReader(hexToBytes(hex))))
})
