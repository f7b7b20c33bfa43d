// The two sides of each conversation, with the key of its outer AEAD.
import { decodeBase64 } from '@sotto/crypto'
import { deriveOuterKey } from '@sotto/crypto/version-3'
import type { Sides } from '../secrecy/version-3/version-3.ts'
import type { SessionRecord } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import { accountOf, type OwnLeaf } from './own-leaf.ts'

/** The sides of the conversations of one identity on this device. */
export class KnownSides {
  readonly #context: Pick<ForwardContext, 'keys' | 'platform'>
  readonly #leaf: OwnLeaf
  /** Of each conversation and the keys of its contact. */
  readonly #sides = new Map<string, Sides>()

  constructor(context: Pick<ForwardContext, 'keys' | 'platform'>, leaf: OwnLeaf) {
    this.#context = context
    this.#leaf = leaf
  }

  /**
   * The sides of a conversation; undefined if the contact has no signing key. The course of a conversation
   * asks for one step after the other, so none is derived twice.
   */
  async of(session: SessionRecord): Promise<Sides | undefined> {
    const { keys, platform } = this.#context
    const { conversationId, theirEcdhPublicKey, theirEd25519PublicKey } = session
    if (theirEd25519PublicKey === undefined) return undefined
    const name = `${conversationId} ${theirEcdhPublicKey} ${theirEd25519PublicKey}`
    const before = this.#sides.get(name)
    if (before) return before
    const peer = { x25519: decodeBase64(theirEcdhPublicKey), ed25519: decodeBase64(theirEd25519PublicKey) }
    const { privateKey } = keys.agreement
    const outerKey = await deriveOuterKey({ privateKey, theirPublicKey: peer.x25519, conversationId })
    const { device, keys: leaf } = this.#leaf
    const relay = platform.relayUrl.host
    const sides = { conversationId, relay, own: accountOf(keys), peer, device, leaf, outerKey }
    this.#sides.set(name, sides)
    return sides
  }

  /** Overwrites the keys. */
  erase(): void {
    for (const { outerKey } of this.#sides.values()) outerKey.fill(0)
  }
}
