// A key from a passphrase: scrypt. An entry of its own, so that who asks for no passphrase does not load it.
import { scryptAsync } from '@noble/hashes/scrypt.js'
import { type Bytes, checkBytes, checkText, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

const KEY_BYTES = 32
const MIN_SALT_BYTES = 16
/** What the block memory may come to. */
const MAX_MEMORY_BYTES = 2 ** 30

/** What a guess costs: `n` rounds, a power of two, over blocks of `128 * r` bytes, `p` times over. */
export interface PassphraseCost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** What `derivePassphraseKey` needs. */
export interface PassphraseKeyInput {
  readonly passphrase: string
  /** At least 16 random bytes, kept beside what the key seals. */
  readonly salt: Uint8Array
  readonly cost: PassphraseCost
}

/**
 * The 32-byte key of a passphrase: scrypt (RFC 7914) of its NFKC form in UTF-8, so that two keyboards which compose an
 * accent differently give one key. Takes `128 * n * r` bytes of memory and, at n = 2^17 and r = 8, a second or so of
 * one core, in small pieces. Throws `INVALID_ARGUMENT`, also above 1 GiB of memory.
 */
export async function derivePassphraseKey({ passphrase, salt, cost }: PassphraseKeyInput): Promise<Bytes> {
  checkText(passphrase, 'passphrase')
  checkBytes(salt, 'salt')
  if (salt.length < MIN_SALT_BYTES) throw new CryptoError('INVALID_ARGUMENT', 'salt must be 16 bytes or more')
  const { n, r, p } = cost
  const isCost = [n, r, p].every((part) => Number.isSafeInteger(part) && part >= 1)
  if (!isCost || n < 2 || !Number.isInteger(Math.log2(n)) || 128 * n * r * p > MAX_MEMORY_BYTES)
    throw new CryptoError('INVALID_ARGUMENT', 'the cost is out of bounds')
  const password = encodeUtf8(passphrase.normalize('NFKC'))
  try {
    return new Uint8Array(await scryptAsync(password, salt, { N: n, r, p, dkLen: KEY_BYTES }))
  } finally {
    password.fill(0)
  }
}
