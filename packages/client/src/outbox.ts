// The way of own messages to the relay: kept from before they are sent until the relay has acknowledged them.
import { encryptMessage, MESSAGE_CRYPTO_VERSION, type OutgoingContent } from '@sotto/crypto'
import {
  type AliasId,
  type ConversationId,
  errors,
  isErrorCode,
  MessageId,
  PAYLOAD_CHARACTERS,
  type RelayFrame,
} from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError } from './client-error.ts'
import { Backoff, randomUuid } from './clock.ts'
import { outgoing } from './content.ts'
import type { Context } from './context.ts'
import { nonceOf } from './inbox.ts'
import type {
  MessagePatch,
  MessageStatus,
  OutboxIntent,
  SessionRecord,
  StoredMessage,
} from './stores/records.ts'
import { Turns } from './turns.ts'

const RETRY = { firstMs: 1000, maxMs: 60_000 }
/** The longest wait a relay may ask for before a message is tried again. */
const MAX_ASKED_WAIT_MS = 300_000
/** How often in a row a message may be refused for what this version does not know. */
const MAX_UNKNOWN_REFUSALS = 5
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
  /** How often it was refused for what this version does not know. */
  unknownRefusals: number
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
  /**
   * The message's id, unique among one's own: 1 to 128 printable ASCII characters without spaces; a new UUID unless told.
   * A send that names the id of a message of this conversation sends nothing and answers that message as it is by now:
   * so a send whose outcome is unknown can be made again.
   */
  readonly id?: string
}

/** A message decided on, and when it is stored. */
interface BegunPost {
  readonly message: StoredMessage
  readonly written: Promise<void>
}

/**
 * Own messages on their way. Of a conversation only the first that is not acknowledged is ever under way: the relay may
 * refuse one message and take the next (a full mailbox just emptied, or one too large for what room there is), and with
 * two under way the second would have overtaken the first. So the order of `seq` is the order of posting, always, at the
 * price of one round trip a message and conversation.
 */
export class Outbox {
  readonly #context: Context
  readonly #entries = new Map<string, Entry>()
  /** The same entries by conversation, in the order they were posted. */
  readonly #queues = new Map<ConversationId, Set<Entry>>()
  readonly #pauses = new Map<string, Pause>()
  /** What is being stored, by id. */
  readonly #begun = new Map<string, ConversationId>()
  readonly #turns = new Turns()
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
   * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`, `INVALID_ARGUMENT`, `STORE_FAILED`.
   */
  async post(
    contact: string,
    content: string | OutgoingContent,
    options: SendOptions,
  ): Promise<StoredMessage> {
    // Looking for an earlier message of the same id takes time, in which none posted later may overtake this one.
    const { message, written } = await this.#turns.take(() => this.#begin(contact, content, options))
    await written
    return message
  }

  async #begin(contact: string, content: string | OutgoingContent, options: SendOptions): Promise<BegunPost> {
    const { sessions, platform, journal, store } = this.#context
    const session = sessions.get(contact)
    const id = options.id ?? randomUuid(platform.random)
    if (options.id !== undefined) {
      if (!v.is(MessageId, id))
        throw new ClientError('INVALID_ARGUMENT', 'this cannot be the id of a message')
      const posted = await store.findMessage(session.conversationId, true, id)
      if (posted) return { message: posted, written: this.#adopt(posted) }
      if (this.#entries.has(id) || this.#begun.has(id))
        throw new ClientError('INVALID_ARGUMENT', 'a message to another contact has this id')
    }
    if (!sessions.guard(session)) throw keyChanged(session.theirAliasId)
    const { plaintext, fields } = outgoing(content, options.replyToId)
    const payload = await this.#encrypt(plaintext, session)
    // Encrypted for keys that a friend list has shown to be wrong meanwhile, or that were forgotten.
    if (!sessions.isCurrent(session)) throw keyChanged(session.theirAliasId)
    if (payload.length > PAYLOAD_CHARACTERS) {
      throw new ClientError('MESSAGE_TOO_LARGE', 'this message is too long to be sent')
    }
    const intent: OutboxIntent = {
      internalId: id,
      conversationId: session.conversationId,
      toAliasId: session.theirAliasId,
      text: fields.text,
      addedAt: platform.clock.now(),
      payload,
      ...(options.replyToId === undefined ? {} : { replyToId: options.replyToId }),
    }
    const message: StoredMessage = {
      id: intent.internalId,
      conversationId: intent.conversationId,
      ...fields,
      isMe: true,
      time: intent.addedAt,
      status: 'sending',
      nonce: nonceOf(payload),
      ...(intent.replyToId === undefined ? {} : { replyToId: intent.replyToId }),
    }
    this.#begun.set(id, session.conversationId)
    const write = journal.write([
      { change: 'message', message },
      { change: 'outbox_added', intent },
    ])
    const written = write.then(() => this.#accept(intent)).finally(() => this.#begun.delete(id))
    return { message, written }
  }

  #accept(intent: OutboxIntent): void {
    if (!this.#entries.has(intent.internalId)) this.#add(intent)
    this.#pump()
  }

  // A client before this one may have written it after this one had read the outbox.
  async #adopt({ id, status }: StoredMessage): Promise<void> {
    await this.#context.journal.write([])
    if (status !== 'sending' || this.#entries.has(id)) return
    const outbox = await this.#context.store.listOutbox()
    const intent = outbox.find(({ internalId }) => internalId === id)
    if (intent) this.#accept(intent)
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
  onHeartbeat(): void {
    const overdue = this.#context.platform.clock.now() - ACK_TIMEOUT_MS
    for (const [first] of this.#queues.values()) {
      if (first?.sentAt === undefined || first.sentAt >= overdue) continue
      this.#context.reopen()
      return
    }
  }

  /** Resolves when every post so far has been given to the store. */
  settled(): Promise<void> {
    return this.#turns.settled()
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
    if (
      isErrorCode(frame.error) ? errors[frame.error].retry === 'never' : this.#isRefusedForGood(entry, frame)
    ) {
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

  /**
   * A newer relay's code says nothing of whether it helps to try again. It is tried a few times, and nobody is left in the
   * dark; then what comes after the message has waited long enough.
   */
  #isRefusedForGood(entry: Entry, { error }: ErrorFrame): boolean {
    // Taken back already, and to be sent again: said twice, it is one refusal.
    if (entry.sentAt === undefined) return false
    entry.unknownRefusals += 1
    if (entry.unknownRefusals === 1) {
      const text = `the relay refused a message for ${error}, which this version does not know`
      this.#context.emitter.emit('error', new ClientError('REFUSED', text))
    }
    return entry.unknownRefusals >= MAX_UNKNOWN_REFUSALS
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
    const entry = { intent, sentAt: undefined, wasSent: false, unknownRefusals: 0 }
    this.#entries.set(intent.internalId, entry)
    const queue = this.#queues.get(intent.conversationId) ?? new Set()
    this.#queues.set(intent.conversationId, queue.add(entry))
  }

  #remove(messageId: string): void {
    const entry = this.#entries.get(messageId)
    if (!entry) return
    this.#takeBack(entry)
    this.#entries.delete(messageId)
    const { conversationId } = entry.intent
    const queue = this.#queues.get(conversationId)
    queue?.delete(entry)
    if (queue?.size === 0) this.#queues.delete(conversationId)
  }

  #takeBack(entry: Entry): void {
    if (entry.sentAt !== undefined) this.#inFlight -= 1
    entry.sentAt = undefined
  }

  #forgetSent(): void {
    for (const entry of this.#entries.values()) this.#takeBack(entry)
  }

  /** Sends the first of each conversation that is not under way, and no more at once than is allowed to be. */
  #pump(): void {
    if (!this.#isOpen) return
    for (const [conversationId, [first]] of this.#queues) {
      if (this.#inFlight >= this.#context.platform.maxInFlight) return
      const pause = this.#pauses.get(conversationId)
      if (first?.sentAt !== undefined || (pause && !pause.isOver)) continue
      if (first && !this.#sendEntry(first)) return
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

  #encrypt(plaintext: string, session: SessionRecord): Promise<string> {
    const { sessions, platform } = this.#context
    return encryptMessage({ sessionKey: sessions.keyOf(session), plaintext, randomBytes: platform.random })
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
    // Said twice of the same message: it is one refusal.
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
