import { describe, expect, test } from 'bun:test'
import { mnemonicToSeedSync } from '@scure/bip39'
import fc from 'fast-check'
import standard from '../../../vectors/standards/bip39.json'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { anyString, expectCode, fixedBytes, randomBytes, vectors } from '../test/expectations.ts'
import { bytesToHex } from './hex.ts'
import { generateMnemonic, mnemonicToSeed, normalizeMnemonic, validateMnemonic } from './mnemonic.ts'

describe('BIP-39', () => {
  for (const { entropy, mnemonic, seed } of standard.vectors) {
    test(`entropy ${entropy} gives the published phrase and seed`, async () => {
      expect(await generateMnemonic(fixedBytes(entropy))).toBe(mnemonic)
      expect(await validateMnemonic(mnemonic)).toBe(true)
      // The published seeds use a passphrase, and Sotto's seeds do not. So this checks only the library
      // against the standard.
      expect(bytesToHex(mnemonicToSeedSync(mnemonic, standard.passphrase))).toBe(seed)
    })
  }

  for (const { mnemonic, bip39_seed_hex } of vectors.identities) {
    test(`the seed of "${mnemonic.slice(0, 20)}…" without a passphrase`, async () => {
      expect(bytesToHex(await mnemonicToSeed(mnemonic))).toBe(bip39_seed_hex)
    })
  }

  test('a wrong checksum, an unknown word and any other number of words than 12 are refused', async () => {
    const wrong = [
      'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon',
      'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon sotto',
      'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
      // Valid for BIP-39, with 15 and 24 words; not for Sotto.
      'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon address',
      `${'abandon '.repeat(23)}art`,
      'abaco abaco abaco abaco abaco abaco abaco abaco abaco abaco abaco abete',
      '',
      ' ',
      '\ud800',
    ]
    for (const phrase of wrong) {
      expect(await validateMnemonic(phrase)).toBe(false)
      await expectCode('INVALID_PHRASE', () => mnemonicToSeed(phrase))
    }
  })
})

test('a phrase with capitals and extra white space is the same phrase everywhere', async () => {
  const { mnemonic, bip39_seed_hex } = vectors.identities[1] ??
    vectors.identities[0] ?? { mnemonic: '', bip39_seed_hex: '' }
  const typed = `\n  ${mnemonic.toUpperCase().replaceAll(' ', ' \t\u3000 ')} `
  expect(normalizeMnemonic(typed)).toBe(mnemonic)
  expect(await validateMnemonic(typed)).toBe(true)
  expect(bytesToHex(await mnemonicToSeed(typed))).toBe(bip39_seed_hex)
})

test('generated phrases are valid and all different', async () => {
  const phrases = await Promise.all(Array.from({ length: 100 }, () => generateMnemonic(randomBytes)))
  for (const phrase of phrases) expect(await validateMnemonic(phrase)).toBe(true)
  expect(new Set(phrases).size).toBe(100)
})

test('a random source may reuse its buffer: each phrase is made of the bytes at the time of the call', async () => {
  const place = new Uint8Array(16)
  const made = [0, 0x7f].map((byte) => generateMnemonic(() => place.fill(byte)))
  expect(await Promise.all(made)).toEqual([
    'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
  ])
})

test('a random source with too few bytes is refused', async () => {
  await expectCode('INVALID_ARGUMENT', () => generateMnemonic(() => new Uint8Array(8)))
})

test('the error does not repeat the phrase', async () => {
  const phrase =
    'abandon secretword abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
  expect(await failureOf(mnemonicToSeed(phrase))).toMatchObject({
    message: expect.not.stringContaining('secretword'),
  })
})

test('validation never throws, for any string', async () => {
  await fc.assert(
    fc.asyncProperty(anyString(), async (text) => expect(await validateMnemonic(text)).toBe(false)),
  )
})
