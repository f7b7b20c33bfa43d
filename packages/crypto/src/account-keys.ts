// The two public identity keys of an account, as constructions of version 3 name it.
import type { ByteWriter } from './byte-record.ts'
import { checkKey } from './bytes.ts'

/** The public identity keys of an account. The security code covers the first. */
export interface AccountKeys {
  /** 32 bytes (RFC 7748). */
  readonly x25519: Uint8Array
  /** 32 bytes (RFC 8032). */
  readonly ed25519: Uint8Array
}

/** Writes both keys, 64 bytes. Throws `INVALID_KEY`. */
export function writeAccountKeys(writer: ByteWriter, { x25519, ed25519 }: AccountKeys, whose: string): void {
  checkKey(x25519, `the X25519 key of ${whose}`)
  checkKey(ed25519, `the Ed25519 key of ${whose}`)
  writer.fixed(x25519).fixed(ed25519)
}

/** Whether two byte arrays are the same. Not in constant time: use it on public values only. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}
