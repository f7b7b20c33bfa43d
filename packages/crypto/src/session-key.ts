// The key that two friends share for one conversation (crypto_v 1).
import { type Bytes, checkText, encodeUtf8 } from './bytes.ts'
import { agreeSharedSecret } from './key-agreement.ts'
import { withSecret } from './primitives.ts'

const KEY_BYTES = 32
const LABEL = 'securechat-session-v1'

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
 * the conversation's id as salt. Both friends derive the same one. Rejects with `INVALID_KEY`, `WEAK_KEY`,
 * `INVALID_ARGUMENT`.
 */
export function deriveSessionKey(input: SessionKeyInput): Promise<Bytes> {
  return deriveConversationKey(input, LABEL)
}

/** Like `deriveSessionKey`, for another purpose: a key for each `label`. */
export async function deriveConversationKey(input: SessionKeyInput, label: string): Promise<Bytes> {
  const { privateKey, theirPublicKey, conversationId } = input
  checkText(conversationId, 'conversationId')
  const agreed = await agreeSharedSecret(privateKey, theirPublicKey)
  const key = withSecret(agreed, async ({ sha256, hkdfSha256 }, secret) => {
    const salt = await sha256(encodeUtf8(conversationId))
    return hkdfSha256({ secret, salt, info: encodeUtf8(label), length: KEY_BYTES })
  })
  agreed.fill(0)
  return key
}
