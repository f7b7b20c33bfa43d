// The vectors of one conversation, vectors/mls/conversation.json: their form, and who is in them.
import { join } from 'node:path'
import type { AccountKeys } from '@sotto/crypto/version-3'
import accounts from '../../../vectors/secrecy.json'
import { accountKeys } from '../../crypto/test/expectations.ts'

/** Where the vectors are. */
export const CONVERSATION_FILE = join(import.meta.dir, '../../../vectors/mls/conversation.json')

/** The conversation is that of `secrecy.json`: Alice is its `a`, Bob its `b`. */
export const { conv_id: CONVERSATION_ID, outer_key_hex: OUTER_KEY_HEX } = accounts.conversation
export const ALICE: AccountKeys = accountKeys(accounts.conversation.a)
export const BOB: AccountKeys = accountKeys(accounts.conversation.b)

/** What Bob knows in an epoch. */
export interface EpochVector {
  readonly epoch: number
  readonly exported_hex: string
  readonly members: readonly {
    readonly leaf: number
    readonly certificate_hex: string
    readonly signature_public_hex: string
  }[]
}

/** A handshake that leads to a new epoch. */
export interface HandshakeVector {
  readonly kind: 'welcome' | 'commit' | 'rejoin'
  readonly what: string
  readonly message_hex: string
  readonly sealed_hex: string
  readonly sealed_epoch: number
  readonly then: EpochVector
}

/** A GroupInfo, which changes nothing. */
export interface GroupInfoVector {
  readonly kind: 'group_info'
  readonly what: string
  readonly message_hex: string
  readonly sealed_hex: string
  readonly sealed_epoch: number
}

/** A message of Alice. */
export interface MessageVector {
  readonly kind: 'message'
  readonly what: string
  readonly message_hex: string
  readonly message_id: string
  readonly epoch: number
  readonly authenticated_data_hex: string
  readonly plaintext_hex: string
}

/** The whole file. */
export interface ConversationVectors {
  readonly note: string
  readonly relay: string
  readonly group_id_hex: string
  readonly bob: {
    readonly key_package_hex: string
    readonly reference_hex: string
    readonly not_before: number
    readonly not_after: number
    readonly init_private_hex: string
    readonly leaf_private_hex: string
    readonly signature_private_hex: string
    readonly signature_public_hex: string
    readonly certificate_hex: string
  }
  readonly steps: readonly (HandshakeVector | GroupInfoVector | MessageVector)[]
}

/** Reads the file. */
export function readConversation(): Promise<ConversationVectors> {
  return Bun.file(CONVERSATION_FILE).json()
}
