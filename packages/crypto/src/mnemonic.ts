// The recovery phrase: 12 English words that encode 128 random bits (BIP-39).
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { type Bytes, encodeUtf8, type RandomBytes, takeRandomBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

const ENTROPY_BYTES = 16
const ENTROPY_BITS = 128
const WORDS = 12
const SEED_ITERATIONS = 2048

/**
 * A new recovery phrase: 12 lower-case English words, one space between (BIP-39, 128 bits from
 * `randomBytes`). Rejects with `INVALID_ARGUMENT` if that returns another number of bytes.
 */
export async function generateMnemonic(randomBytes: RandomBytes): Promise<string> {
  const bits = await withChecksum(takeRandomBytes(randomBytes, ENTROPY_BYTES))
  return numbersOf(bits, 11)
    .map((index) => wordlist[index])
    .join(' ')
}

/**
 * Normalises a typed phrase: NFKD (BIP-39), lower case, single spaces, none at the ends. Does not check
 * whether the phrase is valid.
 */
export function normalizeMnemonic(phrase: string): string {
  return phrase.normalize('NFKD').toLowerCase().trim().split(/\s+/).join(' ')
}

/**
 * Whether `phrase`, once normalised, is 12 words of the English BIP-39 list with the right checksum;
 * otherwise false.
 */
export async function validateMnemonic(phrase: string): Promise<boolean> {
  return typeof phrase === 'string' && isValidNormalized(normalizeMnemonic(phrase))
}

/**
 * The 64-byte BIP-39 seed of a phrase, with the empty passphrase: PBKDF2-HMAC-SHA512, 2,048 rounds. The
 * phrase is normalised first, so that every spelling `validateMnemonic` accepts gives the same seed. Rejects
 * with `INVALID_PHRASE`.
 */
export async function mnemonicToSeed(phrase: string): Promise<Bytes> {
  const normalized = typeof phrase === 'string' ? normalizeMnemonic(phrase) : ''
  if (!(await isValidNormalized(normalized)))
    throw new CryptoError('INVALID_PHRASE', 'not a 12-word BIP-39 phrase')
  const salt = encodeUtf8('mnemonic')
  return withSecret(encodeUtf8(normalized), ({ pbkdf2Sha512 }, password) =>
    pbkdf2Sha512({ password, salt, iterations: SEED_ITERATIONS }),
  )
}

async function isValidNormalized(phrase: string): Promise<boolean> {
  // BIP-39 also has longer phrases; Sotto's always have 12 words.
  const indexes = phrase.split(' ').map((word) => wordlist.indexOf(word))
  if (indexes.length !== WORDS || indexes.includes(-1)) return false
  const bits = indexes.map((index) => binary(index, 11)).join('')
  return (await withChecksum(Uint8Array.from(numbersOf(bits.slice(0, ENTROPY_BITS), 8)))) === bits
}

/** The 132 bits of 12 words: the entropy, and the first 4 bits of its SHA-256. */
function withChecksum(entropy: Uint8Array): Promise<string> {
  return withSecret(entropy, async ({ sha256 }, copy) => {
    const [first = 0] = await sha256(copy)
    return Array.from([...copy, first], (byte) => binary(byte, 8))
      .join('')
      .slice(0, -4)
  })
}

function binary(number: number, digits: number): string {
  return number.toString(2).padStart(digits, '0')
}

function numbersOf(bits: string, digits: number): number[] {
  return Array.from({ length: bits.length / digits }, (_, at) =>
    Number.parseInt(bits.slice(at * digits, (at + 1) * digits), 2),
  )
}
