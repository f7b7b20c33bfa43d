import { expect, test } from 'bun:test'
import { scryptSync } from 'node:crypto'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { randomBytes } from '../test/expectations.ts'
import { bytesToHex } from './hex.ts'
import { derivePassphraseKey } from './passphrase-key.ts'

const cost = { n: 2 ** 10, r: 8, p: 2 }
const salt = new Uint8Array(16).fill(3)

test("the key equals the result of Node's scrypt", async () => {
  for (const [passphrase, rounds] of [
    ['correct horse', { n: 2 ** 10, r: 8, p: 2 }],
    ['пароль', { n: 2 ** 14, r: 8, p: 1 }],
    [' ', { n: 2, r: 1, p: 1 }],
  ] as const) {
    const salt = randomBytes(32)
    const { n: N, r, p } = rounds
    const expected = scryptSync(passphrase, salt, 32, { N, r, p, maxmem: 2 ** 26 })
    expect(bytesToHex(await derivePassphraseKey({ passphrase, salt, cost: rounds }))).toBe(
      expected.toString('hex'),
    )
  }
})

test('composed and decomposed accents are the same passphrase', async () => {
  const composed = await derivePassphraseKey({ passphrase: 'caf\u00e9', salt, cost })
  expect(await derivePassphraseKey({ passphrase: 'cafe\u0301', salt, cost })).toEqual(composed)
  expect(await derivePassphraseKey({ passphrase: 'cafe', salt, cost })).not.toEqual(composed)
})

test('invalid arguments are refused, and so are costs that need too much memory', async () => {
  for (const wrong of [
    { passphrase: '', salt, cost },
    { passphrase: 'a', salt: new Uint8Array(15), cost },
    ...[
      { n: 3, r: 8, p: 1 },
      { n: 1, r: 8, p: 1 },
      { n: 2 ** 40, r: 8, p: 1 },
      { n: 2 ** 17, r: 8, p: 100 },
      { n: 2 ** 17, r: 0, p: 1 },
      { n: 1024.5, r: 8, p: 1 },
      { n: Number.NaN, r: 8, p: 1 },
    ].map((cost) => ({ passphrase: 'a', salt, cost })),
  ])
    expect(await failureOf(derivePassphraseKey(wrong))).toMatchObject({ code: 'INVALID_ARGUMENT' })
})
