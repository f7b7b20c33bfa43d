// What the client asks of a store. Every store passes the one contract suite of store-contract.ts.
import type { FriendProfile } from '@sotto/protocol'
import type {
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

/** Which part of a conversation to list. Own messages without a `seq` yet come last. */
export interface MessageRange {
  /** Only messages after this `seq`. */
  readonly afterSeq?: number
  /** Only messages before this `seq`. */
  readonly beforeSeq?: number
  /** At most this many, the latest of the range. */
  readonly limit?: number
}

/**
 * Where a client keeps what must survive it.
 *
 * - `write` is all or nothing, and resolves once its changes would survive a crash of the machine (as far as the
 *   store can: memory cannot). Writes become durable in the order of their calls.
 * - `write` of nothing resolves once everything written before it is durable.
 * - A read started after a call of `write` sees its changes, whether that call has resolved or not.
 * - A write that fails leaves the store refusing every later one, so that nothing is ever durable before what came
 *   before it.
 */
export interface ClientStore {
  write(changes: readonly StoreChange[]): Promise<void>
  /** The wrapped data key, where the secrets in the store are sealed. */
  getVault(): Promise<VaultRecord | undefined>
  getIdentity(): Promise<StoredIdentity | undefined>
  /** In the order they were first added. */
  listSessions(): Promise<readonly SessionRecord[]>
  getTrust(conversationId: string): Promise<TrustState>
  listFriends(): Promise<readonly FriendProfile[]>
  /** In rising `seq`, own messages without one last, by time. */
  listMessages(conversationId: string, range?: MessageRange): Promise<readonly StoredMessage[]>
  /** By id, which is unique among one side's messages only. */
  findMessage(conversationId: string, isMe: boolean, id: string): Promise<StoredMessage | undefined>
  findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined>
  /** Whether a message of either side has this nonce. */
  hasNonce(conversationId: string, nonce: string): Promise<boolean>
  /** The highest `seq` of the peer's messages in a conversation; 0 where there are none. */
  latestPeerSeq(conversationId: string): Promise<number>
  /** Own messages with a `seq` of at most `upToSeq` whose status is one of `statuses`. */
  listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): Promise<readonly StoredMessage[]>
  /** In the order they were added. */
  listOutbox(): Promise<readonly OutboxIntent[]>
  /** In the order they were added. */
  listRetractIntents(): Promise<readonly RetractIntent[]>
  /** In rising `seq`; of all conversations unless one is named. */
  listOfflineMessages(conversationId?: string): Promise<readonly OfflineMessage[]>
  findOfflineMessage(conversationId: string, seq: number): Promise<OfflineMessage | undefined>
  countOfflineMessages(): Promise<number>
  listReadMarks(): Promise<readonly ReadMark[]>
  /** Lets go of files and locks, once every write has settled. */
  close(): Promise<void>
  /**
   * Closes without waiting: somebody else is about to write. What was not begun is refused with `CLOSED`, and is not written
   * later either; resolves once what was begun has ended.
   */
  abandon(): Promise<void>
}
