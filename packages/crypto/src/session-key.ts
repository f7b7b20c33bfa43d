// The key two friends share for one conversation (crypto_v 1).
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, checkText, encodeUtf8 } from './bytes.ts'
import { agreeSharedSecret } from './key-agreement.ts'

const INFO = encodeUtf8('securechat-session-v1')

/**
 * What `deriveSessionKey` needs: my X25519 private key, the friend's public key (32 bytes each) and the
 * conversation.
 */
export interface SessionKeyInput {
  readonly privateKey: Uint8Array
  readonly theirPublicKey: Uint8Array
  readonly conversationId: string
}

/**
 * The 32-byte session key: HKDF-SHA256 (RFC 5869) of the X25519 shared secret (RFC 7748), with the SHA-256 of
 * the conversation's id as salt. Both friends derive the same one. Throws `INVALID_KEY`, `WEAK_KEY`,
 * `INVALID_ARGUMENT`.
 */
export function deriveSessionKey({ privateKey, theirPublicKey, conversationId }: SessionKeyInput): Bytes {
  checkText(conversationId, 'conversationId')
  const secret = agreeSharedSecret(privateKey, theirPublicKey)
  const key = hkdf(sha256, secret, sha256(encodeUtf8(conversationId)), INFO, 32)
  secret.fill(0)
  return key
}
