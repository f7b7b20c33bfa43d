// The encryption of messages, by version (`crypto_v`). The outbox encrypts and the inbox decrypts with these
// functions only. The cipher itself is message-envelope.ts of the crypto package.
import { CryptoError, decryptMessage, MESSAGE_CRYPTO_VERSION } from '@sotto/crypto'

export { encryptMessage, MESSAGE_CRYPTO_VERSION } from '@sotto/crypto'

/** Whether this client can decrypt messages of a version. */
export function canDecrypt(cryptoVersion: number): boolean {
  return cryptoVersion === MESSAGE_CRYPTO_VERSION
}

/** The text of a payload; undefined if the key does not decrypt it. */
export async function decryptPayload(sessionKey: Uint8Array, payload: string): Promise<string | undefined> {
  try {
    return await decryptMessage({ sessionKey, payload })
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

/** The nonce of a payload: its first 12 bytes, which are its first 16 characters. */
export function nonceOf(payload: string): string {
  return payload.slice(0, 16)
}
