// Taking messages back, both ways. An own retraction is kept until the relay has acknowledged it.
import { errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Backoff } from './clock.ts'
import type { Confirmations } from './confirmations.ts'
import type { Context } from './context.ts'
import type { Outbox } from './outbox.ts'
import type { RetractIntent, SessionRecord, StoreChange, StoredMessage } from './stores/records.ts'

type RetractFrame = Extract<RelayFrame, { type: 'retract' }>
type RetractAckFrame = Extract<RelayFrame, { type: 'retract_ack' }>
type ErrorFrame = Extract<RelayFrame, { type: 'error' }>

const RETRY = { firstMs: 2000, maxMs: 60_000 }
const RETRACTED = { text: '', retracted: true } as const

/** Sends and receives retractions. */
export class Retractions {
  readonly #context: Context
  readonly #outbox: Outbox
  readonly #confirmations: Confirmations
  readonly #backoff: Backoff
  readonly #intents = new Map<string, RetractIntent>()
  #cancelRetry: (() => void) | undefined

  constructor(context: Context, outbox: Outbox, confirmations: Confirmations) {
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
   * Takes an own message back; resolves once that is stored, with no need of a connection. Even a message that has not left
   * yet is retracted at the relay: it may have left in an earlier run, its acknowledgement lost.
   * @throws ClientError `UNKNOWN_MESSAGE`, `STORE_FAILED`.
   */
  async retract(session: SessionRecord, messageId: string): Promise<StoredMessage> {
    const { store, journal, emitter, platform } = this.#context
    const message = await store.findMessage(session.conversationId, true, messageId)
    if (!message) throw new ClientError('UNKNOWN_MESSAGE', 'there is no such message of yours here')
    if (message.retracted) return message
    const { conversationId, id } = message
    const changes: StoreChange[] = [
      { change: 'message_patch', conversationId, isMe: true, id, patch: RETRACTED },
      { change: 'outbox_removed', internalId: id },
    ]
    const intent: RetractIntent = {
      messageId: id,
      conversationId,
      toAliasId: session.theirAliasId,
      addedAt: platform.clock.now(),
    }
    // What the relay refused for good, it never had.
    const isAtRelay = message.status !== 'failed' || message.failure === 'EXPIRED'
    if (isAtRelay) changes.push({ change: 'retract_added', intent })
    await journal.write(changes)
    this.#outbox.withdraw(id)
    const retracted = bare({ ...message, ...RETRACTED })
    if (isAtRelay) {
      this.#intents.set(id, intent)
      this.#send(intent)
    } else {
      journal.record([{ change: 'message', message: retracted }])
    }
    emitter.emit('retracted', retracted)
    return retracted
  }

  onOpen(): void {
    for (const intent of this.#intents.values()) this.#send(intent)
  }

  stop(): void {
    this.#cancelRetry?.()
  }

  async onRetractAck(frame: RetractAckFrame): Promise<void> {
    const intent = this.#intents.get(frame.id)
    if (intent?.conversationId !== frame.conv_id) return
    this.#forget(intent)
    this.#backoff.reset()
    const { store, journal } = this.#context
    const message = await store.findMessage(frame.conv_id, true, frame.id)
    // Only here, where no other frame is being handled: written whole, it would undo what an `ack` says meanwhile.
    if (message?.retracted) journal.record([{ change: 'message', message: bare(message) }])
  }

  /** Decides on a refusal; false where it is not about a retraction. */
  onError(frame: ErrorFrame): boolean {
    const intent = frame.id === undefined ? undefined : this.#intents.get(frame.id)
    if (!intent) return false
    if (isErrorCode(frame.error) && errors[frame.error].retry === 'never') {
      this.#forget(intent)
      const refusal = frame.error
      this.#context.emitter.emit(
        'error',
        new ClientError('REFUSED', `the message could not be taken back: ${refusal}`, { refusal }),
      )
      return true
    }
    this.#cancelRetry?.()
    const waitMs = Math.max(this.#backoff.nextMs(), Math.min(frame.retry_after_ms ?? 0, RETRY.maxMs))
    this.#cancelRetry = this.#context.platform.clock.after(waitMs, () => this.onOpen())
    return true
  }

  /** A peer takes a message back. Only what came from that peer, in that conversation, is touched. */
  async onRetract(frame: RetractFrame): Promise<void> {
    if (this.#confirmations.isHeld(frame.conv_id)) return
    const { store, journal, sessions, emitter } = this.#context
    const changes: StoreChange[] = []
    const session = sessions.find(frame.conv_id)
    const message =
      session && !sessions.isAnothersAlias(session, frame.from)
        ? await store.findMessage(frame.conv_id, false, frame.id)
        : undefined
    const retracted = message && !message.retracted ? bare({ ...message, ...RETRACTED }) : undefined
    if (retracted) changes.push({ change: 'message', message: retracted })
    for (const offline of await store.listOfflineMessages(frame.conv_id)) {
      // Whatever alias it came under: what waits in a conversation is all its one peer's.
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

/** A message without what would still lead to its media. */
function bare({ mediaUrl: _, caption: __, ...message }: StoredMessage): StoredMessage {
  return message
}
