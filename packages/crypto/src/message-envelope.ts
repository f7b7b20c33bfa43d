// A message's payload: AES-256-GCM under the session key (crypto_v 1).
import { decodeBase64, encodeBase64 } from './base64.ts'
import { checkKey, concatBytes, decodeUtf8, encodeUtf8, type RandomBytes, takeRandomBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

/** The `crypto_v` of the scheme in this file. */
export const MESSAGE_CRYPTO_VERSION = 1

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What `encryptMessage` needs: the 32-byte session key, the text, and a source of nonces. */
export interface EncryptMessageInput {
  readonly sessionKey: Uint8Array
  readonly plaintext: string
  readonly randomBytes: RandomBytes
}

/** What `decryptMessage` needs: the 32-byte session key and the payload as received. */
export interface DecryptMessageInput {
  readonly sessionKey: Uint8Array
  readonly payload: string
}

/**
 * The payload of a `msg` frame: Base64 of nonce (12 bytes), ciphertext and tag (16 bytes), AES-256-GCM (NIST
 * SP 800-38D) without additional data. The nonce is random, so one session key is safe for about 2^32
 * messages.
 */
export async function encryptMessage(input: EncryptMessageInput): Promise<string> {
  const { sessionKey, plaintext, randomBytes } = input
  checkKey(sessionKey, 'sessionKey')
  if (typeof plaintext !== 'string') throw new CryptoError('INVALID_ARGUMENT', 'plaintext must be a string')
  const nonce = takeRandomBytes(randomBytes, NONCE_BYTES)
  const data = encodeUtf8(plaintext)
  const sealed = await withSecret(sessionKey, ({ encryptAesGcm }, key) => encryptAesGcm({ key, nonce, data }))
  return encodeBase64(concatBytes(nonce, sealed))
}

/**
 * The text of a payload. Rejects with `DECRYPTION_FAILED` for every fault, including bad Base64 and bad
 * UTF-8, so that a sender learns nothing from the difference.
 */
export async function decryptMessage({ sessionKey, payload }: DecryptMessageInput): Promise<string> {
  checkKey(sessionKey, 'sessionKey')
  return withSecret(sessionKey, async ({ decryptAesGcm }, key) => {
    try {
      const sealed = decodeBase64(payload)
      if (sealed.length < NONCE_BYTES + TAG_BYTES) throw failed()
      const [nonce, data] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)]
      return decodeUtf8(await decryptAesGcm({ key, nonce, data }))
    } catch {
      throw failed()
    }
  })
}

function failed(): CryptoError {
  return new CryptoError('DECRYPTION_FAILED', 'the message could not be decrypted')
}
