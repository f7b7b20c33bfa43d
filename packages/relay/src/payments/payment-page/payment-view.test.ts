// Amounts as text: exact for amounts of any size.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decimalText } from './payment-view.ts'

describe('an amount in its smallest unit', () => {
  test.each([
    [0n, 6, '0'],
    [1n, 6, '0.000001'],
    [25_000_000n, 6, '25'],
    [25_500_000n, 6, '25.5'],
    [100n, 0, '100'],
    [0n, 0, '0'],
    [1n, 18, '0.000000000000000001'],
    [9_007_199_254_740_993_000_001n, 6, '9007199254740993.000001'],
    [10n ** 77n, 18, `1${'0'.repeat(59)}`],
  ])('%p with %p decimals is %p', (amount, decimals, text) => {
    expect(decimalText(amount, decimals)).toBe(text)
  })

  test('can be restored from its text, digit by digit', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 256n }),
        fc.integer({ min: 0, max: 36 }),
        (amount, decimals) => {
          const text = decimalText(amount, decimals)
          expect(text).toMatch(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/)
          const [whole = '', fraction = ''] = text.split('.')
          expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(amount)
        },
      ),
    )
  })

  test('is refused if it is not valid', () => {
    expect(() => decimalText(-1n, 6)).toThrow(RangeError)
    for (const decimals of [-1, 1.5, Number.NaN]) expect(() => decimalText(1n, decimals)).toThrow(RangeError)
  })
})
