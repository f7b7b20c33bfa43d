// The code that two people compare to exclude a third party between them.
import { checkKey, concatBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { bytesToHex } from './hex.ts'
import { primitives } from './primitives.ts'

const CODE_LENGTH = 60

/**
 * The security code of two X25519 public keys (32 bytes each): the first 60 hex digits of SHA-256 over the
 * lesser key and the greater one, compared as bytes. The order of the arguments makes no difference. Rejects
 * with `INVALID_KEY`.
 */
export async function securityCode(a: Uint8Array, b: Uint8Array): Promise<string> {
  checkKey(a, 'a')
  checkKey(b, 'b')
  const [lesser, greater] = isLess(b, a) ? [b, a] : [a, b]
  const keys = concatBytes(lesser, greater)
  const { sha256 } = await primitives()
  return bytesToHex(await sha256(keys)).slice(0, CODE_LENGTH)
}

/**
 * The code for display: 15 groups of 4, separated by spaces. Throws `INVALID_ARGUMENT` unless it is a code.
 */
export function formatSecurityCode(code: string): string {
  if (typeof code !== 'string' || !/^[0-9a-f]{60}$/.test(code)) {
    throw new CryptoError('INVALID_ARGUMENT', 'a security code is 60 lower-case hex digits')
  }
  return code.replace(/(.{4})(?!$)/g, '$1 ')
}

function isLess(a: Uint8Array, b: Uint8Array): boolean {
  for (const [index, byte] of a.entries()) {
    const other = b[index] ?? 0
    if (byte !== other) return byte < other
  }
  return false
}
