// Amounts keep the value that was written, even where floating point would change it.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decimalOf, millionthsOf, partOf, partOfRoundedUp, shareOf } from './webhook-decimal.ts'
import { JsonNumber, parseJson, sortedJson } from './webhook-json.ts'

function decimal(text: string) {
  const value = decimalOf(text)
  if (!value) throw new Error(`${text} is not a decimal`)
  return value
}

test('a number keeps all its digits', () => {
  expect(parseJson('{"paid":12.3400001000000000000001}')).toEqual({
    paid: new JsonNumber('12.3400001000000000000001'),
  })
  expect(sortedJson(parseJson('{"b":6.0,"a":1e-7}'))).toBe('{"a":1e-7,"b":6.0}')
})

test('text that is nested too deep or is not JSON is refused', () => {
  expect(parseJson(`${'['.repeat(60_000)}${']'.repeat(60_000)}`)).toBeUndefined()
  expect(parseJson(`${'['.repeat(17)}${']'.repeat(17)}`)).toBeUndefined()
  expect(parseJson(`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`)).toBeUndefined()
  expect(parseJson(`${'['.repeat(16)}${']'.repeat(16)}`)).toBeDefined()
  const brackets = '[{'.repeat(40)
  expect(parseJson(`["${brackets}","\\"${brackets}","\\\\"]`)).toEqual([brackets, `"${brackets}`, '\\'])
  const broken = [
    '{"a":',
    '"',
    `"${'\\"'.repeat(30_000)}`,
    '['.repeat(16),
    ']'.repeat(60_000),
    '\u0661',
    '1n',
  ]
  for (const text of broken) expect(parseJson(text)).toBeUndefined()
})

test('text with more structure than allowed is not parsed, and text inside strings does not count', () => {
  expect(parseJson('{"a":[1,2]}', 4)).toEqual({ a: [new JsonNumber('1'), new JsonNumber('2')] })
  expect(parseJson('{"a":[1,2]}', 3)).toBeUndefined()
  expect(parseJson('["[{,:\\",:"]', 1)).toEqual(['[{,:",:'])
})

test('a list of any length is read', () => {
  expect(parseJson(`[${'0,'.repeat(130_000)}0]`)).toHaveLength(130_001)
})

test('if a key occurs twice, the last one counts, both for the signature and for reading', () => {
  expect(sortedJson(parseJson('{"paid":1,"paid":2}'))).toBe('{"paid":2}')
})

test('keys are sorted at every depth, and their values are unchanged', () => {
  const text = '{"z":1,"a":{"y":[{"d":1,"c":"ü\\n"}],"b":null},"__proto__":true}'
  expect(sortedJson(parseJson(text))).toBe('{"__proto__":true,"a":{"b":null,"y":[{"c":"ü\\n","d":1}]},"z":1}')
})

test('a decimal is read with its sign, its point and its exponent', () => {
  expect(decimal('12.34')).toEqual({ digits: 1234n, scale: 2 })
  expect(decimal('-0.5')).toEqual({ digits: -5n, scale: 1 })
  expect(decimal('1.5e-7')).toEqual({ digits: 15n, scale: 8 })
  expect(decimal('2e3')).toEqual({ digits: 2000n, scale: 0 })
  for (const text of [
    '',
    ' 1',
    '1,5',
    '.5',
    '1.',
    '0x10',
    'NaN',
    '1e100',
    '9'.repeat(41),
    '1\n',
    '+1',
    '--1',
  ]) {
    expect(decimalOf(text)).toBeUndefined()
  }
  // Digits of other scripts, and texts that some languages accept as numbers.
  for (const text of ['١٢', '１２', '²', '1_000', '1e٢', 'Infinity', '0b1'])
    expect(decimalOf(text)).toBeUndefined()
})

test('a number that would fill the memory is refused', () => {
  for (const text of ['1e999999999', '1e-999999999', '-1e+999', '1e0000000099', '9'.repeat(60_000)]) {
    expect(decimalOf(text)).toBeUndefined()
    expect(parseJson(`[${text}]`)).toEqual([new JsonNumber(text)])
  }
})

test('dollars become millionths, rounded down', () => {
  expect(millionthsOf(decimal('10'))).toBe(10_000_000n)
  expect(millionthsOf(decimal('0.0000019'))).toBe(1n)
})

test('parts of a price never exceed the price, and the whole share is the whole price', () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 18n }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(amounts, fc.bigInt({ min: 1n, max: 10n ** 12n }), (parts, price) => {
      const whole = { digits: parts.reduce((sum, part) => sum + part), scale: 18 }
      const shares = parts.map((digits) => shareOf({ digits, scale: 18 }, whole))
      const rounded = shares.reduce((sum, share) => sum + partOf(price, share), 0n)
      expect(rounded <= price).toBe(true)
      expect(partOf(price, shareOf(whole, whole))).toBe(price)
      const [first, ...further] = shares
      const together = further.reduce(
        (sum, share) => sum + partOfRoundedUp(price, share),
        first ? partOf(price, first) : 0n,
      )
      expect(together >= price).toBe(true)
    }),
  )
})
