// The reads of the stores that keep their whole content in memory. Such stores differ only in their writes.
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import { DeviceState } from './device-state.ts'
import {
  type AppRecord,
  type CallRecord,
  type ConversationSettings,
  type ConversationSummary,
  latestFirst,
  type MessageStatus,
  type OfflineMessage,
  type OutboxIntent,
  type ReadMark,
  type RetractIntent,
  type SessionRecord,
  type StoreChange,
  type StoredIdentity,
  type StoredMessage,
  type TrustState,
  type VaultRecord,
} from './records.ts'
import type { ClientStore, MessageRange } from './store.ts'

/** Answers every read of `ClientStore` from memory. */
export abstract class InMemoryReads implements ClientStore {
  protected state = new DeviceState()

  abstract write(changes: readonly StoreChange[]): Promise<void>
  abstract close(): Promise<void>
  abstract abandon(): Promise<void>

  async getVault(): Promise<VaultRecord | undefined> {
    return this.state.vault
  }

  async getIdentity(): Promise<StoredIdentity | undefined> {
    return this.state.identity
  }

  async listSessions(): Promise<readonly SessionRecord[]> {
    return [...this.state.sessions.values()]
  }

  async getTrust(conversationId: string): Promise<TrustState> {
    return this.state.trustOf(conversationId)
  }

  async listFriends(): Promise<readonly FriendProfile[]> {
    return this.state.friends
  }

  async listMessages(conversationId: string, range?: MessageRange): Promise<readonly StoredMessage[]> {
    return this.state.listMessages(conversationId, range)
  }

  async findMessage(conversationId: string, isMe: boolean, id: string): Promise<StoredMessage | undefined> {
    return this.state.findMessage(conversationId, isMe, id)
  }

  async findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined> {
    return this.state.findMessageBySeq(conversationId, seq)
  }

  async hasNonce(conversationId: string, nonce: string): Promise<boolean> {
    return this.state.hasNonce(conversationId, nonce)
  }

  async latestPeerSeq(conversationId: string): Promise<number> {
    return this.state.latestPeerSeq(conversationId)
  }

  async listSummaries(conversationIds: readonly ConversationId[]): Promise<readonly ConversationSummary[]> {
    return conversationIds.map((id) => this.state.summaryOf(id))
  }

  async listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): Promise<readonly StoredMessage[]> {
    return this.state.listOwnMessages(conversationId, upToSeq, statuses)
  }

  async listOutbox(): Promise<readonly OutboxIntent[]> {
    return [...this.state.outbox.values()]
  }

  async listRetractIntents(): Promise<readonly RetractIntent[]> {
    return [...this.state.retractIntents.values()]
  }

  async listOfflineMessages(conversationId?: string): Promise<readonly OfflineMessage[]> {
    return this.state.listOfflineMessages(conversationId)
  }

  async findOfflineMessage(conversationId: string, seq: number): Promise<OfflineMessage | undefined> {
    return this.state.findOfflineMessage(conversationId, seq)
  }

  async countOfflineMessages(): Promise<number> {
    return this.state.offline.size
  }

  async listReadMarks(): Promise<readonly ReadMark[]> {
    return [...this.state.readMarks.values()]
  }

  async listSettings(): Promise<readonly ConversationSettings[]> {
    return [...this.state.settings.values()]
  }

  async listAppData(): Promise<readonly AppRecord[]> {
    return [...this.state.appData.values()]
  }

  async findSecret(name: string): Promise<string | undefined> {
    return this.state.secrets.get(name)
  }

  async listCalls(): Promise<readonly CallRecord[]> {
    return [...this.state.calls.values()].sort(latestFirst)
  }
}
