// The recovery phrase: 12 English words that stand for 128 random bits (BIP-39).
import { entropyToMnemonic, validateMnemonic as isBip39Mnemonic, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { type Bytes, type RandomBytes, takeRandomBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

const ENTROPY_BYTES = 16
const WORDS = 12

/**
 * A new recovery phrase: 12 lower-case English words, one space between (BIP-39, 128 bits from
 * `randomBytes`).
 */
export function generateMnemonic(randomBytes: RandomBytes): string {
  return entropyToMnemonic(takeRandomBytes(randomBytes, ENTROPY_BYTES), wordlist)
}

/**
 * The one spelling of a phrase as people type it: NFKD (BIP-39), lower case, single spaces, none at the ends.
 * Says nothing about whether it is a valid phrase.
 */
export function normalizeMnemonic(phrase: string): string {
  return phrase.normalize('NFKD').toLowerCase().trim().split(/\s+/).join(' ')
}

/**
 * Whether `phrase`, once normalised, is 12 words of the English BIP-39 list with the right checksum. Never
 * throws.
 */
export function validateMnemonic(phrase: string): boolean {
  return typeof phrase === 'string' && isValidNormalized(normalizeMnemonic(phrase))
}

/**
 * The 64-byte BIP-39 seed of a phrase, with the empty passphrase. The phrase is normalised first, so that
 * every spelling `validateMnemonic` accepts gives the same seed. Throws `INVALID_PHRASE`. Takes some tens of
 * milliseconds.
 */
export function mnemonicToSeed(phrase: string): Bytes {
  const normalized = typeof phrase === 'string' ? normalizeMnemonic(phrase) : ''
  if (!isValidNormalized(normalized)) throw new CryptoError('INVALID_PHRASE', 'not a 12-word BIP-39 phrase')
  return mnemonicToSeedSync(normalized)
}

function isValidNormalized(phrase: string): boolean {
  // BIP-39 knows longer phrases too; Sotto's are always of 12 words.
  return phrase.split(' ').length === WORDS && isBip39Mnemonic(phrase, wordlist)
}
