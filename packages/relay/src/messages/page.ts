// The rows a batch works on, as it sees them, and the store that reads and writes them.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'
import type { Batch } from './batch.ts'

/** One direction of a conversation. */
export interface Lane {
  readonly recipient: AccountId
  readonly sender: AccountId
  pendingCount: number
  pendingBytes: number
  deliveredSeq: number
  readSeq: number
}

/** A pair's conversation. */
export interface Conversation {
  readonly id: number
  readonly convId: ConversationId
  readonly isOpen: boolean
  /** The last number given out before the batch: what can have been seen. */
  readonly committedSeq: number
  lastSeq: number
  lastAt: number
  readonly lanes: readonly Lane[]
}

/** What an account has waiting, all conversations together. */
export interface Mailbox {
  readonly account: AccountId
  lastPosition: number
  pendingCount: number
  pendingBytes: number
}

/** An id a sender has used. */
export interface SentId {
  readonly sender: AccountId
  readonly id: string
  readonly conversation: number
  readonly seq: number
  readonly at: number
  isRetracted: boolean
}

/** A message or a retraction that waits for its recipient. */
export interface MessageRow {
  readonly kind: 'message' | 'retraction'
  readonly id: string
  readonly seq: number
  readonly at: number
  readonly position: number
  readonly crypto_v: number
  readonly payload: string
}

/** How `messages.kind` says it. */
export const MESSAGE_KINDS = { message: 0, retraction: 1 } as const

/** The kind a stored number stands for. */
export function kindOf(stored: number): MessageRow['kind'] {
  return stored === MESSAGE_KINDS.retraction ? 'retraction' : 'message'
}

/** The rows of one transaction. Asking twice gives the same object, so that changes add up. */
export interface Page {
  conversation(convId: ConversationId): Conversation | undefined
  mailbox(account: AccountId): Mailbox
  sentId(sender: AccountId, id: string): SentId | undefined
  /** The account's alias now. */
  aliasOf(account: AccountId): AliasId
  /** Whose alias this is or was. */
  ownerOf(alias: AliasId): AccountId | undefined
  areFriends(a: AccountId, b: AccountId): boolean
}

/** The mailbox's hot path on one engine. */
export interface BatchStore {
  /**
   * One transaction: hands a page to `work`, writes what the batch changed, and resolves once that is on stable
   * storage. `work` may run again where the engine asks for it, each time on a fresh page.
   * @param keys what the operations will ask the page for
   */
  commit(keys: PageKeys, work: (page: Page) => Batch): Promise<Batch>
}

/** What the operations of a batch name. */
export interface PageKeys {
  readonly conversations: ReadonlySet<ConversationId>
  readonly sentIds: readonly { readonly sender: AccountId; readonly id: string }[]
  readonly addressed: readonly { readonly sender: AccountId; readonly alias: AliasId }[]
}
