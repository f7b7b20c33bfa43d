// Amounts come out as they were written, whatever a double would make of them.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { addShares, decimalOf, millionthsOf, partOf, partOfRoundedUp, shareOf } from './webhook-decimal.ts'
import { JsonNumber, parseJson, sortedJson } from './webhook-json.ts'

function decimal(text: string) {
  const value = decimalOf(text)
  if (!value) throw new Error(`${text} is no decimal`)
  return value
}

test('a number keeps every digit it was sent with', () => {
  expect(parseJson('{"paid":12.3400001000000000000001}')).toEqual({
    paid: new JsonNumber('12.3400001000000000000001'),
  })
  expect(sortedJson(parseJson('{"b":6.0,"a":1e-7}'))).toBe('{"a":1e-7,"b":6.0}')
})

test('what is nested too deep, or is no JSON, is nothing', () => {
  expect(parseJson(`${'['.repeat(60_000)}${']'.repeat(60_000)}`)).toBeUndefined()
  expect(parseJson(`${'['.repeat(20)}${']'.repeat(20)}`)).toBeUndefined()
  expect(parseJson('{"a":')).toBeUndefined()
})

test('keys are put in order at every depth, and what they hold is unchanged', () => {
  const text = '{"z":1,"a":{"y":[{"d":1,"c":"ü\\n"}],"b":null},"__proto__":true}'
  expect(sortedJson(parseJson(text))).toBe('{"__proto__":true,"a":{"b":null,"y":[{"c":"ü\\n","d":1}]},"z":1}')
})

test('a decimal is read with its sign, its point and its exponent', () => {
  expect(decimal('12.34')).toEqual({ digits: 1234n, scale: 2 })
  expect(decimal('-0.5')).toEqual({ digits: -5n, scale: 1 })
  expect(decimal('1.5e-7')).toEqual({ digits: 15n, scale: 8 })
  expect(decimal('2e3')).toEqual({ digits: 2000n, scale: 0 })
  for (const text of ['', ' 1', '1,5', '.5', '1.', '0x10', 'NaN', '1e100', '9'.repeat(41)]) {
    expect(decimalOf(text)).toBeUndefined()
  }
})

test('dollars become millionths, and what is below one is dropped', () => {
  expect(millionthsOf(decimal('10'))).toBe(10_000_000n)
  expect(millionthsOf(decimal('0.0000019'))).toBe(1n)
})

test('parts of a price never come to more than the price, and all of it comes to all of it', () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 18n }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(amounts, fc.bigInt({ min: 1n, max: 10n ** 12n }), (parts, price) => {
      const whole = { digits: parts.reduce((sum, part) => sum + part), scale: 18 }
      const shares = parts.map((digits) => shareOf({ digits, scale: 18 }, whole))
      const rounded = shares.reduce((sum, share) => sum + partOf(price, share), 0n)
      expect(rounded <= price).toBe(true)
      expect(partOf(price, shares.reduce(addShares))).toBe(price)
      const [first, ...further] = shares
      const together = further.reduce(
        (sum, share) => sum + partOfRoundedUp(price, share),
        first ? partOf(price, first) : 0n,
      )
      expect(together >= price).toBe(true)
    }),
  )
})
