// The outer encryption of handshakes (crypto_v 3): a Welcome, a commit and a GroupInfo open only for who has
// one of the two X25519 identities that the security code covers.
import { type AccountKeys, writeAccountKeys } from './account-keys.ts'
import { ByteWriter } from './byte-record.ts'
import {
  type Bytes,
  checkBytes,
  checkKey,
  checkText,
  concatBytes,
  type RandomBytes,
  takeRandomBytes,
} from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'
import { deriveConversationKey, type SessionKeyInput } from './session-key.ts'

const KEY_LABEL = 'sotto-outer-key-v1'
const LABEL = 'sotto-outer-v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** How much longer a sealed handshake is. */
export const OUTER_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES

const KINDS = { welcome: 1, commit: 2, rejoin: 3, group_info: 4 } as const

/** What is sealed: a Welcome, a member's commit, a commit from outside, or a GroupInfo. */
export type OuterKind = keyof typeof KINDS

/** What a sealed handshake is bound to. It opens only with the same values. */
export interface OuterContext {
  readonly conversationId: string
  readonly kind: OuterKind
  /** The relay's epoch that the handshake leaves; for a GroupInfo, the epoch that it describes. */
  readonly epoch: number
  readonly sender: AccountKeys
}

/**
 * What `sealOuter` needs: `deriveOuterKey`'s key, what the handshake is, its bytes, and a source of nonces.
 */
export interface SealOuterInput extends OuterContext {
  readonly key: Uint8Array
  readonly plaintext: Uint8Array
  readonly randomBytes: RandomBytes
}

/** What `openOuter` needs: `deriveOuterKey`'s key, what the handshake must be, and its bytes as received. */
export interface OpenOuterInput extends OuterContext {
  readonly key: Uint8Array
  readonly sealed: Uint8Array
}

/**
 * The 32-byte key of a conversation's handshakes: HKDF-SHA256 (RFC 5869) of the X25519 shared secret (RFC
 * 7748), with the SHA-256 of the conversation's id as salt and a label that no other key has. Both friends
 * derive the same one. Rejects with `INVALID_KEY`, `WEAK_KEY`, `INVALID_ARGUMENT`.
 */
export function deriveOuterKey(input: SessionKeyInput): Promise<Bytes> {
  return deriveConversationKey(input, KEY_LABEL)
}

/**
 * Nonce (12 bytes), ciphertext and tag (16 bytes): AES-256-GCM (NIST SP 800-38D), with the context as
 * additional data. The nonce is random. Rejects with `INVALID_KEY`, `INVALID_ARGUMENT`.
 */
export async function sealOuter(input: SealOuterInput): Promise<Bytes> {
  const { key, plaintext, randomBytes } = input
  checkKey(key, 'key')
  checkBytes(plaintext, 'plaintext')
  const additionalData = encodeContext(input)
  const nonce = takeRandomBytes(randomBytes, NONCE_BYTES)
  const sealed = await withSecret(key, ({ encryptAesGcm }, copy) =>
    encryptAesGcm({ key: copy, nonce, data: plaintext, additionalData }),
  )
  return concatBytes(nonce, sealed)
}

/**
 * The handshake of sealed bytes. Rejects with `DECRYPTION_FAILED` if they were sealed for any other context,
 * or by somebody without the key. Who does not know the kind tries each.
 */
export async function openOuter(input: OpenOuterInput): Promise<Bytes> {
  const { key, sealed } = input
  checkKey(key, 'key')
  checkBytes(sealed, 'sealed')
  const additionalData = encodeContext(input)
  return withSecret(key, async ({ decryptAesGcm }, copy) => {
    try {
      if (sealed.length < OUTER_OVERHEAD_BYTES) throw failed()
      const [nonce, data] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)]
      return await decryptAesGcm({ key: copy, nonce, data, additionalData })
    } catch {
      throw failed()
    }
  })
}

// The version is in the label. The keys have fixed lengths, and every other part its length in front.
function encodeContext({ conversationId, kind, epoch, sender }: OuterContext): Bytes {
  checkText(conversationId, 'conversationId')
  if (!Object.hasOwn(KINDS, kind))
    throw new CryptoError('INVALID_ARGUMENT', 'kind is not a kind of handshake')
  const writer = new ByteWriter().text(LABEL).text(conversationId).number(KINDS[kind]).u64(epoch)
  writeAccountKeys(writer, sender, 'the sender')
  return writer.done()
}

function failed(): CryptoError {
  return new CryptoError('DECRYPTION_FAILED', 'the handshake could not be opened')
}
