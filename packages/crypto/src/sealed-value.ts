// A secret kept at rest: AES-256-GCM, bound to the place it was sealed for.
import { gcm } from '@noble/ciphers/aes.js'
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

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What `sealValue` needs: a 32-byte key, the secret, the place it belongs to, and a source of nonces. */
export interface SealValueInput {
  readonly key: Uint8Array
  readonly secret: Uint8Array
  /** Names the place: a value opens under the context it was sealed under, and no other. Not secret. */
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
 * Base64 of nonce (12 bytes), ciphertext and tag (16 bytes): AES-256-GCM (NIST SP 800-38D) with the context's UTF-8 as
 * additional data. The nonce is random, so one key is good for about 2^32 values.
 */
export function sealValue({ key, secret, context, randomBytes }: SealValueInput): string {
  checkKey(key, 'key')
  checkBytes(secret, 'secret')
  checkText(context, 'context')
  const nonce = takeRandomBytes(randomBytes, NONCE_BYTES)
  return encodeBase64(concatBytes(nonce, gcm(key, nonce, encodeUtf8(context)).encrypt(secret)))
}

/** The secret of a sealed value. Throws `DECRYPTION_FAILED` for whatever can be wrong with it. */
export function openValue({ key, sealed, context }: OpenValueInput): Bytes {
  checkKey(key, 'key')
  checkText(context, 'context')
  try {
    const bytes = decodeBase64(sealed)
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw failed()
    const cipher = gcm(key, bytes.subarray(0, NONCE_BYTES), encodeUtf8(context))
    return cipher.decrypt(bytes.subarray(NONCE_BYTES))
  } catch {
    throw failed()
  }
}

function failed(): CryptoError {
  return new CryptoError('DECRYPTION_FAILED', 'the sealed value could not be opened')
}
