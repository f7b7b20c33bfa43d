// The interface of a store. Every store passes the contract tests in test/stores/store-contract.ts.
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import type {
  AppRecord,
  CallRecord,
  ConversationSettings,
  ConversationSummary,
  MessageStatus,
  OfflineMessage,
  OutboxIntent,
  ReadMark,
  RetractIntent,
  SessionRecord,
  StoreChange,
  StoredIdentity,
  StoredMessage,
  TrustState,
  VaultRecord,
} from './records.ts'

/**
 * Which part of a conversation to list. Sent messages without a `seq`, which the relay has not accepted, come
 * after all others, and all of them together: they are in every part that reaches the end of the
 * conversation, beyond its `limit`. So a page has a message with a `seq`, from which the next page is asked,
 * unless no more follow.
 */
export interface MessageRange {
  /** Only messages after this `seq`. */
  readonly afterSeq?: number
  /** Only messages before this `seq`: none without a `seq`. */
  readonly beforeSeq?: number
  /**
   * At most this many messages with a `seq`. Messages with the same `seq`, which only a faulty relay gives
   * to two, are never on two pages: such a page is longer.
   */
  readonly limit?: number
  /** Which messages of the range the limit leaves; the latest by default. */
  readonly take?: 'latest' | 'earliest'
}

/** The part of a conversation around a message, which need not be stored. */
export interface MessagesAround {
  readonly aroundSeq: number
  /** At most this many messages before it, and as many after it; one more if it is not stored. */
  readonly limit: number
}

/**
 * Stores a client's data on the device.
 *
 * - `write` writes all its changes or none. It resolves once they would survive a crash of the machine (as
 *   far as the store can guarantee that: memory cannot). Writes become durable in the order of their calls.
 * - `write` with no changes resolves once everything written before it is durable.
 * - A read that starts after a call of `write` sees its changes, even before that call resolves.
 * - After a failed write the store refuses every later one, so that no write becomes durable without the ones
 *   before it.
 */
export interface ClientStore {
  write(changes: readonly StoreChange[]): Promise<void>
  /** The wrapped data key, if the secrets in the store are sealed. */
  getVault(): Promise<VaultRecord | undefined>
  getIdentity(): Promise<StoredIdentity | undefined>
  /** In the order they were first added. */
  listSessions(): Promise<readonly SessionRecord[]>
  getTrust(conversationId: string): Promise<TrustState>
  listFriends(): Promise<readonly FriendProfile[]>
  /** Sorted by `seq`, without removed ones. Sent messages without a `seq` come last, sorted by time. */
  listMessages(conversationId: string, range?: MessageRange): Promise<readonly StoredMessage[]>
  /**
   * Finds a message by id, also one that was removed. An id is unique only among the messages of one side,
   * hence `isMe`.
   */
  findMessage(conversationId: string, isMe: boolean, id: string): Promise<StoredMessage | undefined>
  /** Finds a message by `seq`, also one that was removed. */
  findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined>
  /** Whether a message of either side has this nonce, also one that was removed. */
  hasNonce(conversationId: string, nonce: string): Promise<boolean>
  /** The highest `seq` of the contact's messages in a conversation, removed ones included; 0 if none. */
  latestPeerSeq(conversationId: string): Promise<number>
  /** What a list shows of these conversations, in their order. */
  listSummaries(conversationIds: readonly ConversationId[]): Promise<readonly ConversationSummary[]>
  /** The sent messages with a `seq` of at most `upToSeq` and one of `statuses`, without removed ones. */
  listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): Promise<readonly StoredMessage[]>
  /** In the order they were added. */
  listOutbox(): Promise<readonly OutboxIntent[]>
  /** In the order they were added. */
  listRetractIntents(): Promise<readonly RetractIntent[]>
  /** Sorted by `seq`; of one conversation, or of all. */
  listOfflineMessages(conversationId?: string): Promise<readonly OfflineMessage[]>
  findOfflineMessage(conversationId: string, seq: number): Promise<OfflineMessage | undefined>
  countOfflineMessages(): Promise<number>
  listReadMarks(): Promise<readonly ReadMark[]>
  listSettings(): Promise<readonly ConversationSettings[]>
  /** The calls that have ended, sorted by time, the latest first. */
  listCalls(): Promise<readonly CallRecord[]>
  /** What the application keeps, in no order. */
  listAppData(): Promise<readonly AppRecord[]>
  /** The value of a `secret`, as it was written. */
  findSecret(name: string): Promise<string | undefined>
  /** Closes files and releases locks, once every write has settled. */
  close(): Promise<void>
  /**
   * Closes without doing the waiting work, because another client is about to write. Work that has not begun
   * is refused with `CLOSED` and never done. Resolves once the work that had begun has ended.
   */
  abandon(): Promise<void>
}
