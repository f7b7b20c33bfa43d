// A secret at rest: AES-256-GCM, bound to the place it was sealed for.
import { decodeBase64, encodeBase64 } from './base64.ts'
import {
  type Bytes,
  checkBytes,
  checkKey,
  checkText,
  concatBytes,
  encodeUtf8,
  type RandomBytes,
  takeRandomBytes,
} from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What `sealValue` needs: a 32-byte key, the secret, the place it belongs to, and a source of nonces. */
export interface SealValueInput {
  readonly key: Uint8Array
  readonly secret: Uint8Array
  /** Names the place: a value opens only with the context that it was sealed with. Not secret. */
  readonly context: string
  readonly randomBytes: RandomBytes
}

/** What `openValue` needs: the same key and context, and the sealed value. */
export interface OpenValueInput {
  readonly key: Uint8Array
  readonly sealed: string
  readonly context: string
}

/**
 * Base64 of nonce (12 bytes), ciphertext and tag (16 bytes): AES-256-GCM (NIST SP 800-38D) with the context's
 * UTF-8 as additional data. The nonce is random, so one key is safe for about 2^32 values. The secret must
 * not change during the call.
 */
export async function sealValue(input: SealValueInput): Promise<string> {
  const { key, secret, context, randomBytes } = input
  checkKey(key, 'key')
  checkBytes(secret, 'secret')
  checkText(context, 'context')
  const nonce = takeRandomBytes(randomBytes, NONCE_BYTES)
  const additionalData = encodeUtf8(context)
  const sealed = await withSecret(key, ({ encryptAesGcm }, copy) =>
    encryptAesGcm({ key: copy, nonce, data: secret, additionalData }),
  )
  return encodeBase64(concatBytes(nonce, sealed))
}

/** The secret of a sealed value. Rejects with `DECRYPTION_FAILED` for every fault. */
export async function openValue({ key, sealed, context }: OpenValueInput): Promise<Bytes> {
  checkKey(key, 'key')
  checkText(context, 'context')
  return withSecret(key, async ({ decryptAesGcm }, copy) => {
    try {
      const bytes = decodeBase64(sealed)
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw failed()
      const [nonce, data] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)]
      return await decryptAesGcm({ key: copy, nonce, data, additionalData: encodeUtf8(context) })
    } catch {
      throw failed()
    }
  })
}

function failed(): CryptoError {
  return new CryptoError('DECRYPTION_FAILED', 'the sealed value could not be opened')
}
