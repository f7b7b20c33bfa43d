// The security code: two people compare it to make sure that nobody sits between them.
import { decodeBase64, securityCode } from '@sotto/crypto'

/** The code two people compare: `fingerprintHex` in hex, `displayCode` in groups of 4 for display. */
export interface SecurityCode {
  readonly contactId: string
  readonly displayCode: string
  readonly fingerprintHex: string
}

/** Security codes in hex, by the contact's X25519 key. */
export type SecurityCodes = ReadonlyMap<string, string>

/** The security codes of `ownKey` with each of `theirKeys`. Those in `known` are not computed again. */
export async function computeSecurityCodes(
  ownKey: Uint8Array,
  theirKeys: readonly string[],
  known: SecurityCodes,
): Promise<SecurityCodes> {
  const codes = Array.from(
    new Set(theirKeys),
    async (key) => [key, known.get(key) ?? (await securityCode(ownKey, decodeBase64(key)))] as const,
  )
  return new Map(await Promise.all(codes))
}
