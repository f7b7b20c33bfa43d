// The messages without an acknowledgement: their order, and which of them is sent next.
import type { ConversationId } from '@sotto/protocol'
import type { OutboxIntent } from '../stores/stores.ts'

/**
 * The relay holds 4 MiB of a connection's frames that come faster than their rate, and closes it beyond that.
 * A quarter of this leaves room for calls and receipts.
 */
const MAX_IN_FLIGHT_BYTES = 1024 * 1024
/** What a frame takes at the relay in addition to its payload, at most. */
const FRAME_OVERHEAD_BYTES = 1024

/** A message without an acknowledgement. */
export interface Entry {
  /** Replaced when a message of version 3 is encrypted. */
  intent: OutboxIntent
  /** When it was sent on the current connection; undefined if it has to be sent. */
  sentAt: number | undefined
  /** The message that it named when it was last sent: the one before it, if that had no acknowledgement. */
  after: string | undefined
  /** Whether it was ever sent in this run. An acknowledgement of a message that was not sent is ignored. */
  wasSent: boolean
  /** Whether no earlier run can have sent it. */
  readonly isNew: boolean
  /** How often the relay refused it with an unknown error code. */
  unknownRefusals: number
}

interface Conversation {
  /** In the order in which they were posted. */
  readonly entries: Set<Entry>
  /** Those with a payload, in the order in which they got it: the contact counts them in this order. */
  readonly sealed: Set<Entry>
  inFlight: number
  /** How many may be in flight: one after a refusal, and one more with each acknowledgement. */
  window: number
  /** When the relay last answered a message. */
  answeredAt: number
}

/** The result of an attempt to send: sent, kept because the conversation has to wait, or no connection. */
export type Sending = 'sent' | 'waits' | 'offline'

/**
 * The queue of each conversation. Many messages of a conversation can be in flight, because each names the
 * one before it and the relay refuses it unless it has accepted that one (protocol, Delivery 3). With a relay
 * that does not check this, only one is in flight.
 */
export class SendQueue {
  readonly #maxInFlight: number
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  /** In the order of their turns. */
  readonly #conversations = new Map<ConversationId, Conversation>()
  #inFlight = 0
  #inFlightBytes = 0

  constructor(maxInFlight: number, now: () => number) {
    this.#maxInFlight = maxInFlight
    this.#now = now
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id)
  }

  /** @param isNew whether no earlier run can have sent it */
  add(intent: OutboxIntent, isNew: boolean): void {
    const entry = { intent, sentAt: undefined, after: undefined, wasSent: false, isNew, unknownRefusals: 0 }
    this.#entries.set(intent.internalId, entry)
    const { conversationId } = intent
    const conversation = this.#conversations.get(conversationId) ?? {
      entries: new Set(),
      sealed: new Set(),
      inFlight: 0,
      window: Number.POSITIVE_INFINITY,
      answeredAt: 0,
    }
    this.#conversations.set(conversationId, conversation)
    conversation.entries.add(entry)
    if (intent.payload !== undefined) conversation.sealed.add(entry)
  }

  /**
   * Removes a message that was accepted, has failed or was retracted.
   * @returns its conversation, if that has no other message here
   */
  remove(id: string): ConversationId | undefined {
    const entry = this.#entries.get(id)
    if (!entry) return undefined
    this.#markUnsent(entry)
    this.#entries.delete(id)
    const { conversationId } = entry.intent
    const conversation = this.#conversations.get(conversationId)
    conversation?.entries.delete(entry)
    conversation?.sealed.delete(entry)
    if (conversation?.entries.size !== 0) return undefined
    this.#conversations.delete(conversationId)
    return conversationId
  }

  /** The relay accepted a message of this conversation. */
  accepted(conversationId: ConversationId): void {
    const conversation = this.#conversations.get(conversationId)
    if (!conversation) return
    conversation.answeredAt = this.#now()
    conversation.window += 1
  }

  /** The relay refused a message that is to be sent again. */
  refused(entry: Entry): void {
    this.#markUnsent(entry)
    const conversation = this.#conversations.get(entry.intent.conversationId)
    if (!conversation) return
    conversation.answeredAt = this.#now()
    conversation.window = 1
  }

  /** The first message of a conversation that has no payload yet. */
  firstUnsealed(conversationId: ConversationId): OutboxIntent | undefined {
    for (const { intent } of this.#conversations.get(conversationId)?.entries ?? [])
      if (intent.payload === undefined) return intent
    return undefined
  }

  /** The messages of a conversation, in their order. */
  of(conversationId: ConversationId): readonly Readonly<Entry>[] {
    return [...(this.#conversations.get(conversationId)?.entries ?? [])]
  }

  /** Replaces a message by the same one with other bytes, or with none. It is to be sent again. */
  replace(intent: OutboxIntent): void {
    const entry = this.#entries.get(intent.internalId)
    if (!entry) return
    this.#markUnsent(entry)
    entry.intent = intent
    const sealed = this.#conversations.get(intent.conversationId)?.sealed
    sealed?.delete(entry)
    if (intent.payload !== undefined) sealed?.add(entry)
  }

  /** Nothing is in flight any more: the connection is gone. */
  markAllUnsent(): void {
    for (const entry of this.#entries.values()) this.#markUnsent(entry)
  }

  /** Whether a message was sent, and none of its conversation answered, before this time. */
  isOverdue(before: number): boolean {
    for (const { entries, answeredAt } of this.#conversations.values()) {
      if (answeredAt >= before) continue
      for (const { sentAt } of entries) if (sentAt !== undefined && sentAt < before) return true
    }
    return false
  }

  /**
   * Sends as much as may be in flight, one message of each conversation in turn.
   * @param hasAfter whether the relay checks the order of messages
   * @param skips whether a message waits while those after it leave
   */
  pump(hasAfter: boolean, send: (entry: Entry) => Sending, skips: (intent: OutboxIntent) => boolean): void {
    for (const [conversationId, conversation] of this.#conversations) {
      if (this.#inFlight >= this.#maxInFlight || this.#inFlightBytes >= MAX_IN_FLIGHT_BYTES) return
      const { entries, sealed, inFlight, window } = conversation
      if (inFlight >= (hasAfter ? window : 1)) continue
      // Once all of those with a payload are in flight, the first of the others is the next to get one.
      const next = nextOf(sealed, skips) ?? nextOf(entries, skips)
      if (!next) continue
      const sending = send(next)
      if (sending === 'offline') return
      if (sending === 'waits') continue
      next.sentAt = this.#now()
      next.wasSent = true
      this.#count(next, 1)
      // Its next turn comes after those of the others, also in this loop.
      this.#conversations.delete(conversationId)
      this.#conversations.set(conversationId, conversation)
    }
  }

  #markUnsent(entry: Entry): void {
    if (entry.sentAt !== undefined) this.#count(entry, -1)
    entry.sentAt = undefined
  }

  #count({ intent }: Entry, by: 1 | -1): void {
    const conversation = this.#conversations.get(intent.conversationId)
    if (conversation) conversation.inFlight += by
    this.#inFlight += by
    this.#inFlightBytes += by * ((intent.payload?.length ?? 0) + FRAME_OVERHEAD_BYTES)
  }
}

/** The order of stored messages: first those with a payload, as they got it, then the others as stored. */
export function inOrderOfSending(one: OutboxIntent, other: OutboxIntent): number {
  // Two without a payload differ by no number.
  return placeOf(one) - placeOf(other) || 0
}

function placeOf({ payload, place = 0 }: OutboxIntent): number {
  return payload === undefined ? Number.POSITIVE_INFINITY : place
}

/** The first message that is not in flight, linked to the one before it. */
function nextOf(entries: Iterable<Entry>, skips: (intent: OutboxIntent) => boolean): Entry | undefined {
  let after: string | undefined
  for (const entry of entries) {
    if (skips(entry.intent)) continue
    if (entry.sentAt === undefined) {
      entry.after = after
      return entry
    }
    after = entry.intent.internalId
  }
  return undefined
}
