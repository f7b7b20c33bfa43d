// Retracts messages, and applies the contact's retractions. A retraction is kept until the relay has
// acknowledged it.
import { errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Sessions } from '../contacts/contacts.ts'
import type { Emitter } from '../events/events.ts'
import { Backoff, type Platform, randomUuid } from '../platform/platform.ts'
import {
  type ClientStore,
  type Journal,
  type OutboxIntent,
  patched,
  type RetractIntent,
  type SessionRecord,
  type StoreChange,
  type StoredMessage,
} from '../stores/stores.ts'
import type { SendFrame } from '../wire/wire.ts'
import type { Confirmations } from './confirmations.ts'
import type { Outbox } from './outbox.ts'

type RetractFrame = Extract<RelayFrame, { type: 'retract' }>
type RetractAckFrame = Extract<RelayFrame, { type: 'retract_ack' }>
type ErrorFrame = Extract<RelayFrame, { type: 'error' }>

const RETRY = { firstMs: 2000, maxMs: 60_000 }
const RETRACTED = { text: '', retracted: true } as const

export interface RetractionsContext {
  readonly platform: Pick<Platform, 'clock' | 'random'>
  readonly store: Pick<ClientStore, 'findMessage' | 'listOfflineMessages' | 'listRetractIntents'>
  readonly journal: Pick<Journal, 'record' | 'write'>
  readonly emitter: Pick<Emitter, 'emit'>
  readonly sessions: Pick<Sessions, 'find' | 'isAnothersAlias'>
  readonly send: SendFrame
}

export class Retractions {
  readonly #context: RetractionsContext
  readonly #outbox: Outbox
  readonly #confirmations: Confirmations
  readonly #backoff: Backoff
  readonly #intents = new Map<string, RetractIntent>()
  #cancelRetry: (() => void) | undefined

  constructor(context: RetractionsContext, outbox: Outbox, confirmations: Confirmations) {
    this.#context = context
    this.#outbox = outbox
    this.#confirmations = confirmations
    this.#backoff = new Backoff(context.platform.random, RETRY)
  }

  async load(): Promise<void> {
    for (const intent of await this.#context.store.listRetractIntents())
      this.#intents.set(intent.messageId, intent)
  }

  /**
   * Retracts a message of this account. Resolves once that is stored; needs no connection. Even a message
   * that has not been sent in this run is retracted at the relay: an earlier run may have sent it and missed
   * the acknowledgement.
   * @throws ClientError `UNKNOWN_MESSAGE`, `STORE_FAILED`.
   */
  async retract(session: SessionRecord, messageId: string): Promise<StoredMessage> {
    const { store, journal, emitter, platform } = this.#context
    const message = await store.findMessage(session.conversationId, true, messageId)
    if (!message) throw new ClientError('UNKNOWN_MESSAGE', 'you sent no such message here')
    if (message.retracted) return message
    const { conversationId, id } = message
    const changes: StoreChange[] = [
      { change: 'message_patch', conversationId, isMe: true, id, patch: RETRACTED },
    ]
    if (!this.#outbox.hasToLeave(id)) changes.push({ change: 'outbox_removed', internalId: id })
    const base = { conversationId, toAliasId: session.theirAliasId, addedAt: platform.clock.now() }
    const intent: RetractIntent = { ...base, messageId: id }
    // The relay never stored a message that it refused.
    const isAtRelay = message.status !== 'failed' || message.failure === 'EXPIRED'
    if (isAtRelay) changes.push({ change: 'retract_added', intent })
    // Under version 3 a contact believes only an encrypted deletion, which the relay cannot make.
    const deletion: OutboxIntent | undefined =
      message.version && isAtRelay
        ? {
            ...{ ...base, internalId: randomUuid(platform.random), text: '', version: 3 },
            about: { kind: 'deletion', isMe: true, id },
          }
        : undefined
    if (deletion) changes.push({ change: 'outbox_added', intent: deletion })
    await journal.write(changes)
    this.#outbox.withdraw(id)
    if (deletion) this.#outbox.accept(deletion)
    if (isAtRelay) {
      this.#intents.set(id, intent)
      this.#send(intent)
    }
    const retracted = patched(message, RETRACTED)
    emitter.emit('retracted', retracted)
    return retracted
  }

  onOpen(): void {
    for (const intent of this.#intents.values()) this.#send(intent)
  }

  stop(): void {
    this.#cancelRetry?.()
  }

  onRetractAck(frame: RetractAckFrame): void {
    const intent = this.#intents.get(frame.id)
    if (intent?.conversationId !== frame.conv_id) return
    this.#forget(intent)
    this.#backoff.reset()
  }

  /** Handles a refusal by the relay. @returns false if it is not about a retraction */
  onError(frame: ErrorFrame): boolean {
    const intent = frame.id === undefined ? undefined : this.#intents.get(frame.id)
    if (!intent) return false
    if (isErrorCode(frame.error) && errors[frame.error].retry === 'never') {
      this.#forget(intent)
      const refusal = frame.error
      this.#context.emitter.emit(
        'error',
        new ClientError('REFUSED', `the message could not be retracted: ${refusal}`, { refusal }),
      )
      return true
    }
    this.#cancelRetry?.()
    const waitMs = this.#backoff.nextMs(frame.retry_after_ms)
    this.#cancelRetry = this.#context.platform.clock.after(waitMs, () => this.onOpen())
    return true
  }

  /** A contact retracts a message. Changes only messages from that contact in that conversation. */
  async onRetract(frame: RetractFrame): Promise<void> {
    if (this.#confirmations.isHeld(frame.conv_id, frame.seq)) return
    const { store, journal, sessions, emitter } = this.#context
    const changes: StoreChange[] = []
    const session = sessions.find(frame.conv_id)
    const message =
      session && !sessions.isAnothersAlias(session, frame.from)
        ? await store.findMessage(frame.conv_id, false, frame.id)
        : undefined
    const isShown = message && !message.retracted && !message.removed && !message.version
    const retracted = isShown ? patched(message, RETRACTED) : undefined
    if (retracted) changes.push({ change: 'message', message: retracted })
    for (const offline of await store.listOfflineMessages(frame.conv_id)) {
      // The alias of the stored message does not matter: all unread messages of a conversation are from one
      // contact.
      if (offline.id !== frame.id || (session && sessions.isAnothersAlias(session, frame.from))) continue
      changes.push({ change: 'offline_removed', conversationId: frame.conv_id, seq: offline.seq })
    }
    journal.record(changes, () => {
      this.#confirmations.add(frame.conv_id, frame.seq, frame.from)
      if (retracted) emitter.emit('retracted', retracted)
    })
  }

  #send(intent: RetractIntent): void {
    const { messageId, conversationId } = intent
    const to = this.#context.sessions.find(conversationId)?.theirAliasId ?? intent.toAliasId
    this.#context.send({ type: 'retract', id: messageId, to, conv_id: conversationId })
  }

  #forget(intent: RetractIntent): void {
    const { messageId, conversationId } = intent
    this.#intents.delete(messageId)
    this.#context.journal.record([{ change: 'retract_removed', conversationId, messageId }])
  }
}
