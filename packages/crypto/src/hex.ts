// Hexadecimal, as call signatures and nonces are written (RFC 4648, section 8, in lower case).
import { bytesToHex as nobleBytesToHex, hexToBytes as nobleHexToBytes } from '@noble/hashes/utils.js'
import { type Bytes, checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/** Lower-case hex of `bytes`. */
export function bytesToHex(bytes: Uint8Array): string {
  checkBytes(bytes, 'bytes')
  return nobleBytesToHex(bytes)
}

/** The bytes of a hex text in either case. Throws `INVALID_ENCODING`. */
export function hexToBytes(text: string): Bytes {
  try {
    return nobleHexToBytes(text)
  } catch {
    throw new CryptoError('INVALID_ENCODING', 'not hexadecimal')
  }
}
