// TRON addresses: encodes 20 bytes, the same as on an EVM chain, as TRON text.
import { createHash } from 'node:crypto'
import { createBase58check } from '@scure/base'

const base58check = createBase58check(
  (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest()),
)
const PREFIX = 0x41

/** The TRON text of 20 bytes: `T…`. */
export function addressOf(bytes: Uint8Array): string {
  return base58check.encode(Uint8Array.of(PREFIX, ...bytes))
}

/** The 20 bytes of a TRON text. @throws Error if it is none */
export function bytesOf(address: string): Uint8Array {
  const bytes = base58check.decode(address)
  if (bytes.length !== 21 || bytes[0] !== PREFIX) throw new Error('not a TRON address')
  return bytes.slice(1)
}

export function isAddress(text: string): boolean {
  try {
    return bytesOf(text).length === 20
  } catch {
    return false
  }
}
