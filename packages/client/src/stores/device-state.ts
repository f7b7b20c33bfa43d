// The content of a store in memory: applies changes and answers reads. The memory and file stores use it.

import type { ConversationId, FriendProfile } from '@sotto/protocol'
import { unreachable } from '../client-error.ts'
import {
  type AppRecord,
  type CallRecord,
  type ConversationSettings,
  type ConversationSummary,
  type MessageStatus,
  type OfflineMessage,
  type OutboxIntent,
  patched,
  type ReadMark,
  type RetractIntent,
  type SessionRecord,
  type StoreChange,
  type StoredIdentity,
  type StoredMessage,
  type TrustState,
  tombstoneOf,
  type VaultRecord,
} from './records.ts'
import type { MessageRange } from './store.ts'

/** Sorts a message without a `seq` after all others. */
const WITHOUT_SEQ = Number.MAX_SAFE_INTEGER

class ConversationMessages {
  readonly byKey = new Map<string, StoredMessage>()
  readonly bySeq = new Map<number, string>()
  /**
   * Keys of sent messages that a receipt can still change, so that a receipt does not have to scan all
   * messages.
   */
  readonly open = { sent: new Set<string>(), delivered: new Set<string>() }
  readonly nonces = new Set<string>()
  latestPeerSeq = 0
  #sorted: StoredMessage[] | undefined

  put(written: StoredMessage): void {
    const key = keyOf(written.isMe, written.id)
    const before = this.byKey.get(key)
    // A removed message never comes back.
    const message = before?.removed ? tombstoneOf(written) : written
    // A seq names one message: the first one that has it.
    if (message.seq !== undefined && !this.bySeq.has(message.seq)) this.bySeq.set(message.seq, key)
    this.byKey.set(key, message)
    if (message.nonce !== undefined) this.nonces.add(message.nonce)
    if (!message.isMe) this.latestPeerSeq = Math.max(this.latestPeerSeq, message.seq ?? 0)
    this.open.sent.delete(key)
    this.open.delivered.delete(key)
    if (message.isMe && !message.removed && (message.status === 'sent' || message.status === 'delivered'))
      this.open[message.status].add(key)
    if (!before && !message.removed && this.#sorted && compareMessages(this.#sorted.at(-1), message) <= 0)
      this.#sorted.push(message)
    else this.#sorted = undefined
  }

  sorted(): readonly StoredMessage[] {
    this.#sorted ??= [...this.byKey.values()].filter(({ removed }) => !removed).sort(compareMessages)
    return this.#sorted
  }
}

/** The state of one store. It is not durable. Two stores must not share it. */
export class DeviceState {
  vault: VaultRecord | undefined
  identity: StoredIdentity | undefined
  friends: readonly FriendProfile[] = []
  readonly sessions = new Map<string, SessionRecord>()
  readonly trust = new Map<string, TrustState>()
  readonly outbox = new Map<string, OutboxIntent>()
  readonly retractIntents = new Map<string, RetractIntent>()
  readonly offline = new Map<string, OfflineMessage>()
  readonly readMarks = new Map<string, ReadMark>()
  readonly settings = new Map<string, ConversationSettings>()
  readonly calls = new Map<string, CallRecord>()
  readonly appData = new Map<string, AppRecord>()
  readonly secrets = new Map<string, string>()
  readonly #conversations = new Map<string, ConversationMessages>()

  apply(change: StoreChange): void {
    switch (change.change) {
      case 'clear':
        return this.#clear()
      case 'vault':
        this.vault = change.vault
        return
      case 'vault_removed':
        this.vault = undefined
        return
      case 'identity':
        this.identity = change.identity
        return
      case 'session':
        this.sessions.set(change.session.conversationId, change.session)
        return
      case 'session_removed':
        this.sessions.delete(change.conversationId)
        return
      case 'trust':
        this.trust.set(change.conversationId, change.trust)
        return
      case 'friends':
        this.friends = change.friends
        return
      case 'message':
        this.#conversation(change.message.conversationId).put(change.message)
        return
      case 'message_patch': {
        const message = this.findMessage(change.conversationId, change.isMe, change.id)
        if (message) this.#conversation(change.conversationId).put(patched(message, change.patch))
        return
      }
      case 'message_removed': {
        const message = this.findMessage(change.conversationId, change.isMe, change.id)
        if (message) this.#conversation(change.conversationId).put(tombstoneOf(message))
        return
      }
      case 'messages_removed': {
        const conversation = this.#conversation(change.conversationId)
        for (const message of conversation.sorted()) conversation.put(tombstoneOf(message))
        return
      }
      case 'outbox_added':
        this.outbox.set(change.intent.internalId, change.intent)
        return
      case 'outbox_removed':
        this.outbox.delete(change.internalId)
        return
      case 'retract_added':
        this.retractIntents.set(pairKey(change.intent.conversationId, change.intent.messageId), change.intent)
        return
      case 'retract_removed':
        this.retractIntents.delete(pairKey(change.conversationId, change.messageId))
        return
      case 'offline_added':
        this.offline.set(pairKey(change.message.conversationId, change.message.seq), change.message)
        return
      case 'offline_removed':
        this.offline.delete(pairKey(change.conversationId, change.seq))
        return
      case 'read_mark':
        this.readMarks.set(change.mark.conversationId, change.mark)
        return
      case 'settings':
        this.settings.set(change.settings.conversationId, change.settings)
        return
      case 'call_logged':
        this.calls.set(change.call.id, change.call)
        return
      case 'call_removed':
        this.calls.delete(change.id)
        return
      case 'app_data':
        this.appData.set(change.record.name, change.record)
        return
      case 'app_data_removed':
        this.appData.delete(change.name)
        return
      case 'secret':
        if (change.value === undefined) this.secrets.delete(change.name)
        else this.secrets.set(change.name, change.value)
        return
      case 'secrets_removed':
        this.secrets.clear()
        return
      default:
        return unreachable(change)
    }
  }

  /** Every message of every conversation. */
  *messages(): Generator<StoredMessage> {
    for (const conversation of this.#conversations.values()) yield* conversation.byKey.values()
  }

  findMessage(conversationId: string, isMe: boolean, id: string): StoredMessage | undefined {
    return this.#conversations.get(conversationId)?.byKey.get(keyOf(isMe, id))
  }

  findMessageBySeq(conversationId: string, seq: number): StoredMessage | undefined {
    const conversation = this.#conversations.get(conversationId)
    const key = conversation?.bySeq.get(seq)
    return key === undefined ? undefined : conversation?.byKey.get(key)
  }

  listMessages(conversationId: string, range: MessageRange = {}): readonly StoredMessage[] {
    const { afterSeq, beforeSeq = WITHOUT_SEQ, limit = Number.POSITIVE_INFINITY, take } = range
    const messages = this.#conversations.get(conversationId)?.sorted() ?? []
    const start = afterSeq ? firstFrom(messages, afterSeq + 1) : 0
    const end = Math.max(start, firstFrom(messages, beforeSeq))
    const hasSameSeq = (at: number) => messages[at]?.seq === messages[at - 1]?.seq
    let [from, to] = [start, end]
    if (take === 'earliest') {
      to = Math.min(end, start + limit)
      while (to < end && hasSameSeq(to)) to += 1
    } else {
      from = Math.max(start, end - limit)
      while (from > start && hasSameSeq(from)) from -= 1
    }
    return messages.slice(from, to === end && range.beforeSeq === undefined ? undefined : to)
  }

  trustOf(conversationId: string): TrustState {
    return this.trust.get(conversationId) ?? { status: 'unverified' }
  }

  summaryOf(conversationId: ConversationId): ConversationSummary {
    const afterSeq = this.readMarks.get(conversationId)?.readSeq ?? 0
    const later = this.listMessages(conversationId, { afterSeq })
    const received = later.filter(({ isMe, retracted }) => !isMe && !retracted)
    const [first] = received
    return {
      conversationId,
      lastMessage: this.#conversations.get(conversationId)?.sorted().at(-1),
      unread: received.length,
      ...(first?.seq && { firstUnreadSeq: first.seq }),
      trust: this.trustOf(conversationId),
    }
  }

  listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): readonly StoredMessage[] {
    const conversation = this.#conversations.get(conversationId)
    if (!conversation) return []
    const found: StoredMessage[] = []
    for (const status of statuses) {
      const keys =
        status === 'sent' || status === 'delivered' ? conversation.open[status] : conversation.byKey.keys()
      for (const key of keys) {
        const message = conversation.byKey.get(key)
        if (
          message?.isMe &&
          !message.removed &&
          message.status === status &&
          message.seq !== undefined &&
          message.seq <= upToSeq
        ) {
          found.push(message)
        }
      }
    }
    return found.sort(compareMessages)
  }

  hasNonce(conversationId: string, nonce: string): boolean {
    return this.#conversations.get(conversationId)?.nonces.has(nonce) ?? false
  }

  latestPeerSeq(conversationId: string): number {
    return this.#conversations.get(conversationId)?.latestPeerSeq ?? 0
  }

  findOfflineMessage(conversationId: string, seq: number): OfflineMessage | undefined {
    return this.offline.get(pairKey(conversationId, seq))
  }

  listOfflineMessages(conversationId: string | undefined): readonly OfflineMessage[] {
    const messages = [...this.offline.values()]
    const chosen =
      conversationId === undefined ? messages : messages.filter((m) => m.conversationId === conversationId)
    return chosen.sort((a, b) => a.seq - b.seq)
  }

  #conversation(conversationId: string): ConversationMessages {
    let conversation = this.#conversations.get(conversationId)
    if (!conversation) {
      conversation = new ConversationMessages()
      this.#conversations.set(conversationId, conversation)
    }
    return conversation
  }

  #clear(): void {
    this.identity = undefined
    this.friends = []
    for (const map of [
      this.sessions,
      this.trust,
      this.outbox,
      this.retractIntents,
      this.offline,
      this.readMarks,
      this.settings,
      this.calls,
      this.appData,
      this.secrets,
    ])
      map.clear()
    this.#conversations.clear()
  }
}

function keyOf(isMe: boolean, id: string): string {
  return `${isMe ? 'me' : 'them'} ${id}`
}

function pairKey(conversationId: string, part: string | number): string {
  return `${conversationId} ${part}`
}

function compareMessages(a: StoredMessage | undefined, b: StoredMessage | undefined): number {
  if (!a || !b) return a ? 1 : b ? -1 : 0
  const bySeq = (a.seq ?? WITHOUT_SEQ) - (b.seq ?? WITHOUT_SEQ)
  return bySeq !== 0 ? bySeq : a.time - b.time
}

/** The place of the first message with at least this `seq`. Cheap near the end of a long conversation. */
function firstFrom(messages: readonly StoredMessage[], seq: number): number {
  return messages.findLastIndex((message) => (message.seq ?? WITHOUT_SEQ) < seq) + 1
}
