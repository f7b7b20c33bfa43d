// The types of the rows that a batch reads and changes.
import type { AliasId, ConversationId } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'

/** One direction of a conversation. */
export interface Lane {
  readonly recipient: AccountId
  readonly sender: AccountId
  pendingCount: number
  pendingBytes: number
  /** The retractions that wait. They are not part of the other counts. */
  retractionCount: number
  deliveredSeq: number
  readSeq: number
  /** The sender's messages that are not read, retracted or expired; see unread-seqs.ts. */
  unreadSeqs: string
  /** How often the marks were reset, so that they are sent to the sender again. */
  toldRound: number
  /** The `seq` of the last message of `crypto_v` 3, delivered or not; 0 for none. */
  version3Seq: number
  /**
   * When the friendship was accepted, until a friend list has named the conversation to the recipient; then
   * 0.
   */
  readonly unlistedSince: number
}

/** A pair's conversation. */
export interface Conversation {
  readonly id: number
  readonly convId: ConversationId
  readonly isOpen: boolean
  /** The last `seq` assigned before this batch. Clients can have seen no higher one. */
  readonly committedSeq: number
  lastSeq: number
  lastAt: number
  /** How many handshakes were accepted. A message of `crypto_v` 3 must name it. */
  groupEpoch: number
  readonly lanes: readonly Lane[]
}

/** The counts of an account's undelivered messages and retractions, over all conversations. */
export interface Mailbox {
  readonly account: AccountId
  lastPosition: number
  pendingCount: number
  pendingBytes: number
  retractionCount: number
}

/** An id a sender has used. */
export interface SentId {
  readonly sender: AccountId
  readonly id: string
  readonly conversation: number
  readonly seq: number
  readonly at: number
  /** Whether the message was stored when the batch began, or in this batch: neither delivered nor erased. */
  readonly isStored: boolean
  isRetracted: boolean
  /** Whether it ended an epoch, so that it cannot be retracted. */
  readonly isHandshake: boolean
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
  /** The epoch that it was accepted in. Only of messages of `crypto_v` 3. */
  readonly epoch?: number | undefined
  /** Whether it ended that epoch. */
  readonly isHandshake?: boolean | undefined
}

/** What a batch changes in a lane. */
export interface LaneChanges {
  readonly conversation: Conversation
  readonly lane: Lane
  readonly inserts: MessageRow[]
  /** Retracted messages. Their rows are deleted if they are still stored. */
  readonly retractedSeqs: number[]
  /** The marks when the batch began. */
  readonly before: Pick<Lane, 'deliveredSeq' | 'readSeq' | 'unreadSeqs' | 'toldRound'>
}

/** The values of the column `messages.kind`. */
export const MESSAGE_KINDS = { message: 0, retraction: 1 } as const

/** The kind that a value of the column stands for. */
export function kindOf(stored: number): MessageRow['kind'] {
  return stored === MESSAGE_KINDS.retraction ? 'retraction' : 'message'
}

/** The rows of one transaction. The same key always gives the same object, so that changes add up. */
export interface BatchRows {
  conversation(convId: ConversationId): Conversation | undefined
  mailbox(account: AccountId): Mailbox
  sentId(sender: AccountId, id: string): SentId | undefined
  /** The account's current alias. */
  aliasOf(account: AccountId): AliasId
  /** The account that has this alias or had it before. */
  ownerOf(alias: AliasId): AccountId | undefined
  areFriends(a: AccountId, b: AccountId): boolean
  /** How many handshakes waited in a lane when the batch began. Only of the lanes of handshakes. */
  handshakesIn(conversation: Conversation, lane: Lane): number
  /**
   * The `seq` of the first message of `crypto_v` 3 that waited in a lane when the batch began. Only of the
   * lanes of receipts by clients that do not read this version.
   */
  firstOfVersion3(conversation: Conversation, lane: Lane): number | undefined
  /** The epoch of the account's newest connection, read after the conversations were locked. */
  epochOf(account: AccountId): number | undefined
}
