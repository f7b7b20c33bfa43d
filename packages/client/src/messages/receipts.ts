// Receipts: applies the contact's `delivered` and `read` to the messages sent, and sends `read` for messages
// received.
import { type ConversationId, errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import type { Sessions } from '../contacts/contacts.ts'
import type { Emitter } from '../events/events.ts'
import { Backoff, type Platform } from '../platform/platform.ts'
import type { ClientStore, Journal, MessageStatus, ReadMark, SessionRecord } from '../stores/stores.ts'
import type { SendFrame } from '../wire/wire.ts'

type ErrorFrame = Extract<RelayFrame, { type: 'error' }>
type ReceiptFrame = Extract<RelayFrame, { type: 'delivered' | 'read' }>

const RETRY = { firstMs: 1000, maxMs: 60_000 }

/** The statuses that a receipt replaces, so that no status ever goes back. */
const REPLACED: Record<ReceiptFrame['type'], readonly MessageStatus[]> = {
  delivered: ['sent'],
  read: ['sent', 'delivered'],
}

export interface ReceiptsContext {
  readonly platform: Pick<Platform, 'clock' | 'random'>
  readonly store: Pick<ClientStore, 'latestPeerSeq' | 'listOwnMessages' | 'listReadMarks'>
  readonly journal: Pick<Journal, 'record' | 'write'>
  readonly emitter: Pick<Emitter, 'emit'>
  readonly sessions: Pick<Sessions, 'find' | 'isAnothersAlias'>
  readonly send: SendFrame
}

export class Receipts {
  readonly #context: ReceiptsContext
  readonly #marks = new Map<string, ReadMark>()
  /** The `seq` of the `read` sent per conversation on this connection. */
  #sent = new Map<ConversationId, number>()
  /** A copy of `#sent` from the latest ping: its pong proves that the relay received these. */
  #sentBeforePing = new Map<ConversationId, number>()
  readonly #backoff: Backoff
  #cancelRetry: (() => void) | undefined

  constructor(context: ReceiptsContext) {
    this.#context = context
    this.#backoff = new Backoff(context.platform.random, RETRY)
  }

  async load(): Promise<void> {
    for (const mark of await this.#context.store.listReadMarks()) this.#marks.set(mark.conversationId, mark)
  }

  /**
   * Applies a receipt to the sent messages that it covers. A `seq` that no message has yet changes nothing,
   * not even when a message gets that `seq` later.
   */
  async onReceipt(frame: ReceiptFrame): Promise<void> {
    const { sessions, store, journal, emitter } = this.#context
    const session = sessions.find(frame.conv_id)
    // A receipt is only the relay's claim, and its conversation decides whom it is about. A receipt from an
    // alias of another account is dropped.
    if (!session || sessions.isAnothersAlias(session, frame.from)) return
    const { conversationId } = session
    for (const message of await store.listOwnMessages(conversationId, frame.seq, REPLACED[frame.type])) {
      const previous = message.status
      const moved = { ...message, status: frame.type }
      journal.record(
        [
          {
            change: 'message_patch',
            conversationId,
            isMe: true,
            id: message.id,
            patch: { status: frame.type },
          },
        ],
        () => emitter.emit('status_change', { message: moved, previous }),
      )
    }
  }

  /**
   * Marks everything received in a conversation as read, and sends the receipt now or with the next
   * connection.
   */
  async markRead(session: SessionRecord): Promise<void> {
    const { store, journal } = this.#context
    const { conversationId } = session
    const readSeq = await store.latestPeerSeq(conversationId)
    const before = this.#marks.get(conversationId)
    if (readSeq <= (before?.readSeq ?? 0)) return
    const mark: ReadMark = { conversationId, readSeq, toldSeq: before?.toldSeq ?? 0 }
    this.#marks.set(conversationId, mark)
    // `read` also confirms delivery, so the messages must be durable before it is sent. This write comes
    // after theirs.
    await journal.write([{ change: 'read_mark', mark }])
    this.#send(mark)
  }

  /** Sends the receipts again that may have been lost with the old connection. */
  onOpen(): void {
    this.#sent.clear()
    this.#sentBeforePing.clear()
    this.#sendUnproven()
  }

  #sendUnproven(): void {
    const unproven = [...this.#marks.values()].filter(({ readSeq, toldSeq }) => readSeq > toldSeq)
    // The newest marks may still be being written.
    this.#context.journal.record([], () => {
      for (const mark of unproven) this.#send(mark)
    })
  }

  stop(): void {
    this.#cancelRetry?.()
  }

  /** Handles a refusal by the relay. @returns false if it is not about a receipt that can be sent again */
  onError(frame: ErrorFrame): boolean {
    const mark = frame.id === undefined ? this.#marks.get(frame.conv_id ?? '') : undefined
    if (!mark || !isErrorCode(frame.error) || errors[frame.error].retry === 'never') return false
    // The next pong does not prove a refused receipt.
    this.#sent.delete(mark.conversationId)
    this.#sentBeforePing.delete(mark.conversationId)
    // Pongs are handled at once, refusals in a queue. So a pong may already have marked this receipt as
    // received.
    this.#marks.set(mark.conversationId, { ...mark, toldSeq: 0 })
    const waitMs = this.#backoff.nextMs(frame.retry_after_ms)
    this.#cancelRetry?.()
    this.#cancelRetry = this.#context.platform.clock.after(waitMs, () => this.#sendUnproven())
    return true
  }

  onPing(): void {
    this.#sentBeforePing = new Map(this.#sent)
  }

  /** The relay answers in order, so it has received everything that was sent before the ping. */
  onPong(): void {
    for (const [conversationId, toldSeq] of this.#sentBeforePing) {
      const mark = this.#marks.get(conversationId)
      if (!mark || mark.toldSeq >= toldSeq) continue
      this.#backoff.reset()
      const proven = { ...mark, toldSeq }
      this.#marks.set(conversationId, proven)
      this.#context.journal.record([{ change: 'read_mark', mark: proven }])
    }
    this.#sentBeforePing.clear()
  }

  #send(mark: ReadMark): void {
    const session = this.#context.sessions.find(mark.conversationId)
    if (!session) return
    const { conversationId, readSeq } = mark
    const sent = this.#context.send({
      type: 'read',
      conv_id: conversationId,
      seq: readSeq,
      to: session.theirAliasId,
    })
    if (sent) this.#sent.set(conversationId, readSeq)
  }
}
