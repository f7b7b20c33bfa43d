// A key from a passphrase: scrypt, which is loaded when the first passphrase is used.
import { type Bytes, checkBytes, checkText, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

const KEY_BYTES = 32
const MIN_SALT_BYTES = 16
/** The maximum block memory. */
const MAX_MEMORY_BYTES = 2 ** 30

/** The cost of a guess: `n` rounds (a power of two) over blocks of `128 * r` bytes, repeated `p` times. */
export interface PassphraseCost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** What `derivePassphraseKey` needs. */
export interface PassphraseKeyInput {
  readonly passphrase: string
  /** At least 16 random bytes, stored beside the sealed value. */
  readonly salt: Uint8Array
  readonly cost: PassphraseCost
}

/**
 * The 32-byte key of a passphrase: scrypt (RFC 7914) of its NFKC form in UTF-8, so that keyboards that
 * compose an accent differently give the same key. Takes `128 * n * r` bytes of memory and, at n = 2^17 and r
 * = 8, half a second or more of one core, in small pieces. Throws `INVALID_ARGUMENT`, also for more than 1
 * GiB of memory, and `UNAVAILABLE` if scrypt could not be loaded.
 */
export async function derivePassphraseKey({ passphrase, salt, cost }: PassphraseKeyInput): Promise<Bytes> {
  checkText(passphrase, 'passphrase')
  checkBytes(salt, 'salt')
  if (salt.length < MIN_SALT_BYTES) throw new CryptoError('INVALID_ARGUMENT', 'salt must be 16 bytes or more')
  const { n, r, p } = cost
  const isCost = [n, r, p].every((part) => Number.isSafeInteger(part) && part >= 1)
  if (!isCost || n < 2 || !Number.isInteger(Math.log2(n)) || 128 * n * r * p > MAX_MEMORY_BYTES)
    throw new CryptoError('INVALID_ARGUMENT', 'the cost is out of bounds')
  const scryptAsync = await loadScrypt()
  const password = encodeUtf8(passphrase.normalize('NFKC'))
  try {
    return new Uint8Array(await scryptAsync(password, salt, { N: n, r, p, dkLen: KEY_BYTES }))
  } finally {
    password.fill(0)
  }
}

async function loadScrypt(): Promise<typeof import('@noble/hashes/scrypt.js').scryptAsync> {
  try {
    return (await import('@noble/hashes/scrypt.js')).scryptAsync
  } catch {
    throw new CryptoError('UNAVAILABLE', 'scrypt could not be loaded')
  }
}
