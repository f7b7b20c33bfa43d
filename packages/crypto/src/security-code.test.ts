import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCode, flipBit, identity, vectors } from '../test/expectations.ts'
import { formatSecurityCode, securityCode } from './security-code.ts'

const key = (index: number) => identity(index).agreement.publicKey
const expected = vectors.security_code

test('the codes equal the vectors, in either order of the keys', async () => {
  expect(await securityCode(key(0), key(1))).toBe(expected.code)
  expect(await securityCode(key(1), key(0))).toBe(expected.code)
  expect(await securityCode(key(0), key(2))).toBe(expected.a_c)
  expect(await securityCode(key(2), key(1))).toBe(expected.b_c)
})

test('a code is displayed in groups of four', () => {
  expect(formatSecurityCode(expected.code)).toBe(expected.display)
})

test('the code does not depend on the order of the keys, and differs for other keys', async () => {
  const pairs = fc.tuple(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
  )
  await fc.assert(
    fc.asyncProperty(pairs, fc.nat(255), async ([a, b], bit) => {
      expect(await securityCode(a, b)).toBe(await securityCode(b, a))
      expect(await securityCode(a, flipBit(a, bit))).toBe(await securityCode(flipBit(a, bit), a))
      expect(await securityCode(a, b)).not.toBe(await securityCode(a, flipBit(b, bit)))
      expect(await securityCode(a, b)).toMatch(/^[0-9a-f]{60}$/)
    }),
  )
})

test('invalid keys and invalid codes are refused', async () => {
  await expectCode('INVALID_KEY', () => securityCode(new Uint8Array(31), key(0)))
  await expectCode('INVALID_KEY', () => securityCode(key(0), new Uint8Array(0)))
  for (const text of ['', expected.display, expected.code.toUpperCase(), `${expected.code}00`]) {
    await expectCode('INVALID_ARGUMENT', () => formatSecurityCode(text))
  }
})
