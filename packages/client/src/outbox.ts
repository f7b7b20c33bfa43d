// The way of own messages to the relay: kept from before they are sent until the relay has acknowledged them.
import { encodeContent, encryptMessage, MESSAGE_CRYPTO_VERSION } from '@sotto/crypto'
import {
  type AliasId,
  type ConversationId,
  errors,
  isErrorCode,
  PAYLOAD_CHARACTERS,
  type RelayFrame,
} from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Backoff, randomUuid } from './clock.ts'
import type { Context } from './context.ts'
import { nonceOf } from './inbox.ts'
import type {
  MessagePatch,
  MessageStatus,
  OutboxIntent,
  SessionRecord,
  StoredMessage,
} from './stores/records.ts'

const RETRY = { firstMs: 1000, maxMs: 60_000 }
/** The longest wait a relay may ask for before a message is tried again. */
const MAX_ASKED_WAIT_MS = 300_000
/** An open connection on which a message has waited this long for its acknowledgement does not work. */
const ACK_TIMEOUT_MS = 60_000

type AckFrame = Extract<RelayFrame, { type: 'ack' }>
type ErrorFrame = Extract<RelayFrame, { type: 'error' }>

interface Entry {
  readonly intent: OutboxIntent
  /** When it was sent on the present connection. */
  sentAt: number | undefined
  /** Whether it was ever sent in this run: an acknowledgement of anything else is not one. */
  wasSent: boolean
}

/** A conversation the relay takes no messages for at present. */
interface Pause {
  readonly backoff: Backoff
  cancel: () => void
  isOver: boolean
}

/** What sending takes besides the text. */
export interface SendOptions {
  /** The id of the message it answers. */
  readonly replyToId?: string
}

/** Own messages on their way. */
export class Outbox {
  readonly #context: Context
  readonly #entries = new Map<string, Entry>()
  readonly #pauses = new Map<string, Pause>()
  #isOpen = false
  #inFlight = 0

  constructor(context: Context) {
    this.#context = context
  }

  async load(): Promise<void> {
    for (const intent of await this.#context.store.listOutbox()) this.#add(intent)
  }

  /** Whether a message is still to be acknowledged. */
  has(messageId: string): boolean {
    return this.#entries.has(messageId)
  }

  /**
   * Stores a message and lets it go out; resolves once it is stored, with no need of a connection.
   * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`, `STORE_FAILED`.
   */
  async post(contact: string, text: string, options: SendOptions): Promise<StoredMessage> {
    const { sessions, platform, journal } = this.#context
    const session = sessions.get(contact)
    if (!sessions.guard(session)) throw keyChanged(session.theirAliasId)
    const payload = this.#encrypt(text, options.replyToId, session)
    if (payload.length > PAYLOAD_CHARACTERS) {
      throw new ClientError('MESSAGE_TOO_LARGE', 'this message is too long to be sent')
    }
    const intent: OutboxIntent = {
      internalId: randomUuid(platform.random),
      conversationId: session.conversationId,
      toAliasId: session.theirAliasId,
      text,
      addedAt: platform.clock.now(),
      payload,
      ...(options.replyToId === undefined ? {} : { replyToId: options.replyToId }),
    }
    const message: StoredMessage = {
      id: intent.internalId,
      conversationId: intent.conversationId,
      text,
      isMe: true,
      time: intent.addedAt,
      status: 'sending',
      nonce: nonceOf(payload),
      ...(intent.replyToId === undefined ? {} : { replyToId: intent.replyToId }),
    }
    await journal.write([
      { change: 'message', message },
      { change: 'outbox_added', intent },
    ])
    this.#add(intent)
    this.#pump()
    return message
  }

  /** Takes a message out: it was retracted before it was acknowledged. */
  withdraw(messageId: string): void {
    this.#remove(messageId)
  }

  onOpen(): void {
    this.#isOpen = true
    this.#forgetSent()
    this.#pump()
  }

  /** Sends what a missing or refused session held back. */
  resume(): void {
    this.#pump()
  }

  onDown(): void {
    this.#isOpen = false
    this.#forgetSent()
  }

  /** Looks for acknowledgements that are overdue. */
  onPing(): void {
    const overdue = this.#context.platform.clock.now() - ACK_TIMEOUT_MS
    for (const { sentAt } of this.#entries.values()) {
      if (sentAt === undefined) continue
      // Sent in order, so the first is the oldest.
      if (sentAt < overdue) this.#context.reopen()
      return
    }
  }

  stop(): void {
    this.#isOpen = false
    for (const pause of this.#pauses.values()) pause.cancel()
    this.#pauses.clear()
  }

  async onAck(frame: AckFrame): Promise<void> {
    const message = await this.#context.store.findMessage(frame.conv_id, true, frame.id)
    if (!message) return
    const entry = this.#entries.get(frame.id)
    if (entry ? !entry.wasSent || entry.intent.conversationId !== frame.conv_id : !message.retracted) return
    const pause = this.#pauses.get(frame.conv_id)
    if (pause?.isOver) this.#pauses.delete(frame.conv_id)
    const patch: MessagePatch = {
      seq: message.seq ?? frame.seq,
      time: frame.at,
      ...(message.status === 'sending' ? { status: 'sent' } : {}),
    }
    this.#remove(frame.id)
    this.#settle(message, patch)
    this.#pump()
  }

  /** Decides on a refusal; false where it is not about a message of this outbox. */
  async onError(frame: ErrorFrame): Promise<boolean> {
    if (frame.id === undefined) return false
    const entry = this.#entries.get(frame.id)
    if (!entry) return this.#expire(frame)
    if (!entry.wasSent) return false
    const { conversationId, internalId } = entry.intent
    if (isErrorCode(frame.error) && errors[frame.error].retry === 'never') {
      const message = await this.#context.store.findMessage(conversationId, true, internalId)
      this.#remove(internalId)
      if (message) this.#settle(message, { status: 'failed', failure: frame.error })
      this.#pump()
      return true
    }
    this.#takeBack(entry)
    this.#pause(conversationId, frame.retry_after_ms)
    return true
  }

  /** The relay gave up a message it had acknowledged: the recipient never came for it. */
  async #expire(frame: ErrorFrame): Promise<boolean> {
    if (frame.error !== 'EXPIRED' || frame.id === undefined || frame.conv_id === undefined) return false
    const message = await this.#context.store.findMessage(frame.conv_id, true, frame.id)
    if (message?.status !== 'sent') return false
    this.#settle(message, { status: 'failed', failure: frame.error })
    return true
  }

  /** Writes what became of a message; says so once it is durable. */
  #settle(message: StoredMessage, patch: MessagePatch): void {
    const { conversationId, id } = message
    const settled: StoredMessage = { ...message, ...patch }
    this.#context.journal.record(
      [
        { change: 'message_patch', conversationId, isMe: true, id, patch },
        { change: 'outbox_removed', internalId: id },
      ],
      () => this.#announce(settled, message.status),
    )
  }

  #announce(message: StoredMessage, previous: MessageStatus): void {
    if (message.status !== previous) this.#context.emitter.emit('status_change', { message, previous })
  }

  #add(intent: OutboxIntent): void {
    this.#entries.set(intent.internalId, { intent, sentAt: undefined, wasSent: false })
  }

  #remove(messageId: string): void {
    const entry = this.#entries.get(messageId)
    if (!entry) return
    this.#takeBack(entry)
    this.#entries.delete(messageId)
  }

  #takeBack(entry: Entry): void {
    if (entry.sentAt !== undefined) this.#inFlight -= 1
    entry.sentAt = undefined
  }

  #forgetSent(): void {
    for (const entry of this.#entries.values()) this.#takeBack(entry)
  }

  /** Sends what may be sent, in order, and no more at once than is allowed to be under way. */
  #pump(): void {
    if (!this.#isOpen || this.#inFlight >= this.#context.platform.maxInFlight) return
    /** Conversations in which something earlier waits: what follows there must not overtake it. */
    const held = new Set<string>()
    for (const entry of this.#entries.values()) {
      if (this.#inFlight >= this.#context.platform.maxInFlight) return
      const { conversationId } = entry.intent
      if (held.has(conversationId)) continue
      const pause = this.#pauses.get(conversationId)
      // After a refusal one message goes ahead alone and shows whether there is room again.
      if (pause) held.add(conversationId)
      if (entry.sentAt !== undefined || (pause && !pause.isOver)) continue
      if (!this.#sendEntry(entry)) return
    }
  }

  #sendEntry(entry: Entry): boolean {
    const { intent } = entry
    const { sessions, platform, send } = this.#context
    const session = sessions.find(intent.conversationId)
    // A contact whose keys changed gets nothing, not even what was written before.
    if (!session || sessions.hasChangedKeys(session)) return true
    const sent = send({
      type: 'msg',
      id: intent.internalId,
      to: session.theirAliasId,
      conv_id: intent.conversationId,
      crypto_v: MESSAGE_CRYPTO_VERSION,
      payload: intent.payload,
    })
    if (!sent) return false
    entry.sentAt = platform.clock.now()
    entry.wasSent = true
    this.#inFlight += 1
    return true
  }

  #encrypt(text: string, replyToId: string | undefined, session: SessionRecord): string {
    const plaintext = encodeContent({ text, replyToId })
    return encryptMessage({
      sessionKey: this.#context.sessions.keyOf(session),
      plaintext,
      randomBytes: this.#context.platform.random,
    })
  }

  /** Holds a conversation back: until the time the relay asks for, or longer with each refusal. */
  #pause(conversationId: ConversationId, askedMs: number | undefined): void {
    const { clock, random } = this.#context.platform
    const pause = this.#pauses.get(conversationId) ?? {
      backoff: new Backoff(random, RETRY),
      cancel: () => {},
      isOver: true,
    }
    this.#pauses.set(conversationId, pause)
    // The refusals of all that was under way together are one.
    if (!pause.isOver) return
    pause.isOver = false
    const waitMs = Math.max(pause.backoff.nextMs(), Math.min(askedMs ?? 0, MAX_ASKED_WAIT_MS))
    pause.cancel = clock.after(waitMs, () => {
      pause.isOver = true
      this.#pump()
    })
  }
}

function keyChanged(aliasId: AliasId): ClientError {
  return new ClientError(
    'KEY_CHANGED',
    `the keys of ${aliasId} have changed: nothing is sent to them or read from them`,
  )
}
