// Sends messages that are stored, and keeps each until the relay has acknowledged it.
import { type ConversationId, errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Sessions } from '../contacts/contacts.ts'
import type { Emitter } from '../events/events.ts'
import type { Platform } from '../platform/platform.ts'
import { MESSAGE_CRYPTO_VERSION } from '../secrecy/secrecy.ts'
import type {
  ClientStore,
  Journal,
  MessagePatch,
  MessageStatus,
  OutboxIntent,
  StoreChange,
  StoredMessage,
} from '../stores/stores.ts'
import type { SendFrame } from '../wire/wire.ts'
import type { Forward, MessageOfContact } from './forward.ts'
import { Pauses } from './pauses.ts'
import { type Entry, inOrderOfSending, type Sending, SendQueue } from './send-queue.ts'

/** How often a message is refused with an unknown error code before it fails. */
const MAX_UNKNOWN_REFUSALS = 5
/** If a message waits this long for its acknowledgement, the connection counts as broken. */
const ACK_TIMEOUT_MS = 60_000

type AckFrame = Extract<RelayFrame, { type: 'ack' }>
type ErrorFrame = Extract<RelayFrame, { type: 'error' }>

export interface OutboxContext {
  readonly platform: Pick<Platform, 'clock' | 'maxInFlight' | 'random'>
  readonly store: Pick<ClientStore, 'findMessage' | 'listOutbox'>
  readonly journal: Pick<Journal, 'record' | 'write'>
  readonly emitter: Pick<Emitter, 'emit'>
  readonly sessions: Pick<Sessions, 'find' | 'get' | 'guard' | 'changedCode' | 'isCurrent' | 'keyOf'>
  readonly send: SendFrame
  /** Undefined if messages have no forward secrecy. */
  readonly forward?: Forward | undefined
  /** Closes a broken connection and opens a new one. */
  readonly reopen: () => void
}

/**
 * The messages that the relay has not acknowledged. The order of `seq` is always the order of posting, also
 * if the relay refuses a message for now and would accept the next (a full mailbox was just emptied, or the
 * first was too large for the space left).
 */
export class Outbox {
  readonly #context: OutboxContext
  readonly #queue: SendQueue
  readonly #pauses: Pauses
  #isOpen = false
  #hasAfter = false
  /** Whether the application knows that the relay is full. */
  #hasReportedWait = false

  constructor(context: OutboxContext) {
    this.#context = context
    const { clock, maxInFlight } = context.platform
    this.#queue = new SendQueue(maxInFlight, () => clock.now())
    this.#pauses = new Pauses(
      context.platform,
      () => this.#pump(),
      (conversationId) => context.emitter.emit('changes', [{ kind: 'conversation', conversationId }]),
    )
  }

  async load(): Promise<void> {
    for (const intent of [...(await this.#context.store.listOutbox())].sort(inOrderOfSending))
      this.#queue.add(intent, intent.unsent === true)
  }

  /**
   * Sends a stored message as soon as possible.
   * @param isNew whether no earlier run can have sent it
   */
  accept(intent: OutboxIntent, isNew = true): void {
    if (!this.#queue.has(intent.internalId)) this.#queue.add(intent, isNew)
    this.#pump()
  }

  /** Removes a message that was retracted before its acknowledgement. */
  withdraw(messageId: string): void {
    if (!this.hasToLeave(messageId)) this.forget(messageId)
  }

  /**
   * Whether a message leaves although it was retracted: under version 3 it has its place among the others
   * once it is encrypted, and the contact would miss it. The relay shows it to nobody.
   */
  hasToLeave(messageId: string): boolean {
    const intent = this.find(messageId)
    return intent?.version === 3 && intent.payload !== undefined
  }

  /** Removes a message that is not in the store any more. */
  forget(messageId: string): void {
    this.#remove(messageId)
    this.#pump()
  }

  /** Removes a message of which nothing is left to send. Resolves once that is stored. */
  async drop(messageId: string): Promise<void> {
    this.#remove(messageId)
    await this.#context.journal.write([removal(messageId)])
    this.#pump()
  }

  /** Whether the relay takes messages now. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** A message that the relay has not acknowledged. */
  find(messageId: string): OutboxIntent | undefined {
    return this.#queue.get(messageId)?.intent
  }

  /** The first message of a conversation that is not encrypted yet. */
  firstUnsealed(conversationId: ConversationId): OutboxIntent | undefined {
    return this.#queue.firstUnsealed(conversationId)
  }

  /** Replaces a message by the same one encrypted, or to be encrypted again, once that is stored. */
  replace(intent: OutboxIntent): void {
    this.#queue.replace(intent)
    this.#pump()
  }

  /** The messages of a conversation, in their order. */
  list(conversationId: ConversationId): readonly OutboxIntent[] {
    return this.#queue.of(conversationId).map(({ intent }) => intent)
  }

  /** Those that were sent on this connection and have no answer. */
  inFlight(conversationId: ConversationId): readonly OutboxIntent[] {
    const entries = this.#queue.of(conversationId).filter(({ sentAt }) => sentAt !== undefined)
    return entries.map(({ intent }) => intent)
  }

  /** The messages under an older version that certainly never left this device. */
  neverSent(conversationId: ConversationId): readonly OutboxIntent[] {
    const entries = this.#queue.of(conversationId).filter(({ wasSent, isNew }) => isNew && !wasSent)
    return entries.map(({ intent }) => intent).filter(({ version }) => version === undefined)
  }

  #remove(messageId: string): void {
    const last = this.#queue.remove(messageId)
    if (last) this.#pauses.end(last)
  }

  /** The code with which the relay refuses the messages of a conversation for now, if it does. */
  heldBy(conversationId: ConversationId): string | undefined {
    return this.#pauses.heldBy(conversationId)
  }

  /** @param hasAfter whether the relay checks the order of messages */
  onOpen(hasAfter: boolean): void {
    this.#isOpen = true
    this.#hasAfter = hasAfter
    this.#queue.markAllUnsent()
    this.#pump()
  }

  /** Sends the messages that waited for a session, or for its keys to be valid again. */
  resume(): void {
    this.#pump()
  }

  onDown(): void {
    this.#isOpen = false
    this.#queue.markAllUnsent()
  }

  /** Opens a new connection if an acknowledgement is overdue. */
  onHeartbeat(): void {
    if (this.#queue.isOverdue(this.#context.platform.clock.now() - ACK_TIMEOUT_MS)) this.#context.reopen()
  }

  stop(): void {
    this.#isOpen = false
    this.#pauses.stop()
  }

  async onAck(frame: AckFrame): Promise<void> {
    const message = await this.#context.store.findMessage(frame.conv_id, true, frame.id)
    const entry = this.#queue.get(frame.id)
    // What only the clients need, such as an acknowledgement under version 3, is no message of the history.
    if (!message) return this.#onHiddenAck(frame, entry)
    if (entry ? !entry.wasSent || entry.intent.conversationId !== frame.conv_id : !message.retracted) return
    this.#pauses.end(frame.conv_id)
    this.#queue.accepted(frame.conv_id)
    const patch: MessagePatch = {
      seq: message.seq ?? frame.seq,
      time: frame.at,
      ...(message.status === 'sending' ? { status: 'sent' } : {}),
    }
    this.#hasReportedWait = false
    this.#queue.remove(frame.id)
    this.#settle(message, patch, entry?.intent, frame.seq)
    this.#pump()
  }

  #onHiddenAck({ conv_id, id, seq }: AckFrame, entry: Entry | undefined): void {
    if (!entry?.wasSent || entry.intent.conversationId !== conv_id) return
    this.#pauses.end(conv_id)
    this.#queue.accepted(conv_id)
    this.#queue.remove(id)
    this.#context.forward?.accepted(entry.intent, seq, [removal(id)], () => {})
    this.#pump()
  }

  /** Handles a refusal by the relay. @returns false if it is not about a message of this outbox */
  async onError(frame: ErrorFrame): Promise<boolean> {
    if (frame.id === undefined) return false
    const entry = this.#queue.get(frame.id)
    // Only a message is out of order, and this one was retracted.
    if (!entry) return frame.error === 'OUT_OF_ORDER' || this.#expire(frame)
    if (!entry.wasSent) return false
    const { conversationId, internalId } = entry.intent
    if (frame.error === 'EPOCH_STALE' && entry.intent.version === 3 && frame.epoch !== undefined) {
      this.#queue.refused(entry)
      this.#context.forward?.stale(entry.intent, frame.epoch)
      return true
    }
    if (isErrorCode(frame.error) ? errors[frame.error].retry === 'never' : this.#hasFailed(entry, frame)) {
      const message = await this.#context.store.findMessage(conversationId, true, internalId)
      this.#remove(internalId)
      if (message) this.#settle(message, { status: 'failed', failure: frame.error }, entry.intent)
      else this.#context.forward?.failed(entry.intent, [removal(internalId)], () => {})
      this.#pump()
      return true
    }
    this.#queue.refused(entry)
    this.#reportLongWait(frame)
    // The message that this one names was refused: that one has its pause, or the next attempt names another.
    if (frame.error !== 'OUT_OF_ORDER' || entry.after === undefined) this.#pauses.begin(conversationId, frame)
    this.#pump()
    return true
  }

  /**
   * Whether a message refused with an unknown code has failed. Before that it is sent a few more times, with
   * one `error` event, as this may help. Then it fails, so that later messages can be sent.
   */
  #hasFailed(entry: Entry, { error }: ErrorFrame): boolean {
    // It already waits to be sent again, so the relay has repeated one refusal.
    if (entry.sentAt === undefined) return false
    entry.unknownRefusals += 1
    if (entry.unknownRefusals === 1) {
      const text = `the relay refused a message with an unknown code: ${error}`
      this.#context.emitter.emit('error', new ClientError('REFUSED', text))
    }
    return entry.unknownRefusals >= MAX_UNKNOWN_REFUSALS
  }

  /** Reports a refusal that may last long by one `error` event, until the relay accepts a message again. */
  #reportLongWait({ error: refusal, retry_after_ms: retryAfterMs }: ErrorFrame): void {
    if (this.#hasReportedWait || (refusal !== 'RELAY_FULL' && refusal !== 'RATE_LIMITED')) return
    this.#hasReportedWait = true
    const text =
      refusal === 'RELAY_FULL'
        ? 'the relay’s disk is full; messages are sent once it has space'
        : 'the relay takes no more messages of this account for now'
    const details = { refusal, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } as const
    this.#context.emitter.emit('error', new ClientError('REFUSED', text, details))
  }

  /** The relay deleted a message that it had acknowledged, because the recipient never fetched it. */
  async #expire(frame: ErrorFrame): Promise<boolean> {
    if (frame.id === undefined || frame.conv_id === undefined) return false
    const message = await this.#context.store.findMessage(frame.conv_id, true, frame.id)
    // The user removed it while it was under way. If it was retracted, the refusal may be about that.
    if (message?.removed && !message.about) return !message.retracted
    if (frame.error !== 'EXPIRED' || message?.status !== 'sent') return false
    const { version, id: internalId } = message
    this.#settle(
      message,
      { status: 'failed', failure: frame.error },
      version && { ...message, version, internalId },
    )
    return true
  }

  /**
   * Stores a message's final status, and emits `status_change` once that is durable.
   * @param seq what the relay numbered it with; undefined if it will not be sent
   */
  #settle(message: StoredMessage, patch: MessagePatch, intent?: MessageOfContact, seq?: number): void {
    const { conversationId, id } = message
    const settled: StoredMessage = { ...message, ...patch }
    const changes: StoreChange[] = [
      { change: 'message_patch', conversationId, isMe: true, id, patch },
      removal(id),
    ]
    const after = (): void => this.#announce(settled, message.status)
    const { journal, forward } = this.#context
    if (!forward || intent?.version !== 3) journal.record(changes, after)
    else if (seq === undefined) forward.failed(intent, changes, after)
    else forward.accepted(intent, seq, changes, after)
  }

  #announce(message: StoredMessage, previous: MessageStatus): void {
    if (message.status !== previous && !message.removed)
      this.#context.emitter.emit('status_change', { message, previous })
  }

  #pump(): void {
    if (!this.#isOpen) return
    // While the user permits an older version, nothing goes under version 3. Behind such a message, the relay
    // would hold back everything that the contact's older client can read.
    const skips = ({ conversationId, version }: OutboxIntent): boolean =>
      version === 3 && this.#context.sessions.find(conversationId)?.lowered === true
    this.#queue.pump(this.#hasAfter, (entry) => this.#send(entry), skips)
  }

  #send({ intent, after, isNew, wasSent }: Entry): Sending {
    const { sessions, send } = this.#context
    const { conversationId } = intent
    const session = sessions.find(conversationId)
    // A contact whose keys changed is sent nothing, not even messages written before the change.
    if (this.#pauses.holds(conversationId) || !session || sessions.changedCode(session)) return 'waits'
    const { payload, version = MESSAGE_CRYPTO_VERSION, epoch } = intent
    const { forward } = this.#context
    if (forward && version !== 3 && !forward.knows(session)) return 'waits'
    const mayMoveUp = forward && version !== 3 && isNew && !wasSent
    if (payload === undefined || (mayMoveUp && (session.speaks === 3 || intent.unsent))) {
      forward?.seal(conversationId)
      return 'waits'
    }
    const isSent = send({
      type: 'msg',
      id: intent.internalId,
      to: session.theirAliasId,
      conv_id: conversationId,
      crypto_v: version,
      payload,
      after,
      epoch,
    })
    return isSent ? 'sent' : 'offline'
  }
}

function removal(internalId: string): StoreChange {
  return { change: 'outbox_removed', internalId }
}

/** How many messages and retractions in a store the relay has not acknowledged. */
export async function countUnsent(
  store: Pick<ClientStore, 'listOutbox' | 'listRetractIntents'>,
): Promise<number> {
  return (await store.listOutbox()).length + (await store.listRetractIntents()).length
}
