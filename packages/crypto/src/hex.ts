// Hexadecimal text of call signatures and nonces (RFC 4648, section 8, in lower case).
import { type Bytes, checkBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/** Lower-case hex of `bytes`. */
export function bytesToHex(bytes: Uint8Array): string {
  checkBytes(bytes, 'bytes')
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The bytes of a hex text in either case. Throws `INVALID_ENCODING`. */
export function hexToBytes(text: string): Bytes {
  if (typeof text !== 'string' || !/^([0-9a-f]{2})*$/i.test(text))
    throw new CryptoError('INVALID_ENCODING', 'not hexadecimal')
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(at * 2, at * 2 + 2), 16),
  )
}
