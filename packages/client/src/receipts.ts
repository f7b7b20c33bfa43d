// Receipts, both ways: how far the peer has come with own messages, and how far this side has read theirs.
import { type ConversationId, errors, isErrorCode, type RelayFrame } from '@sotto/protocol'
import { Backoff } from './clock.ts'
import type { Context } from './context.ts'
import type { MessageStatus, ReadMark, SessionRecord } from './stores/records.ts'

type ErrorFrame = Extract<RelayFrame, { type: 'error' }>
type ReceiptFrame = Extract<RelayFrame, { type: 'delivered' | 'read' }>

const RETRY = { firstMs: 1000, maxMs: 60_000 }

/** What a receipt moves on, so that no status ever goes back. */
const MOVES: Record<ReceiptFrame['type'], readonly MessageStatus[]> = {
  delivered: ['sent'],
  read: ['sent', 'delivered'],
}

/** Receives receipts, and sends those of reading. */
export class Receipts {
  readonly #context: Context
  readonly #marks = new Map<string, ReadMark>()
  /** What has left on the present connection, and what had left before the latest heartbeat. */
  #told = new Map<ConversationId, number>()
  #provenByPong = new Map<ConversationId, number>()

  readonly #backoff: Backoff
  #cancelRetry: (() => void) | undefined

  constructor(context: Context) {
    this.#context = context
    this.#backoff = new Backoff(context.platform.random, RETRY)
  }

  async load(): Promise<void> {
    for (const mark of await this.#context.store.listReadMarks()) this.#marks.set(mark.conversationId, mark)
  }

  /**
   * Applies a receipt to the own messages it covers. One for a `seq` nothing has yet marks nothing: neither now nor when a
   * message gets that `seq` later.
   */
  async onReceipt(frame: ReceiptFrame): Promise<void> {
    const { sessions, store, journal, emitter } = this.#context
    const session = sessions.find(frame.conv_id)
    // A receipt proves nothing beyond the relay's word, and is judged by its conversation; only what is plainly about
    // someone else is dropped.
    if (!session || sessions.isAnothersAlias(session, frame.from)) return
    const { conversationId } = session
    for (const message of await store.listOwnMessages(conversationId, frame.seq, MOVES[frame.type])) {
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

  /** How far this side has read a conversation. */
  readSeq(conversationId: string): number {
    return this.#marks.get(conversationId)?.readSeq ?? 0
  }

  /** Marks everything that has come in a conversation as read, and tells the peer now or once there is a connection. */
  async markRead(session: SessionRecord): Promise<void> {
    const { store, journal } = this.#context
    const { conversationId } = session
    const readSeq = await store.latestPeerSeq(conversationId)
    const before = this.#marks.get(conversationId)
    if (readSeq <= (before?.readSeq ?? 0)) return
    const mark: ReadMark = { conversationId, readSeq, toldSeq: before?.toldSeq ?? 0 }
    this.#marks.set(conversationId, mark)
    // `read` confirms delivery too: the messages must be durable before it leaves, and this write is after theirs.
    await journal.write([{ change: 'read_mark', mark }])
    this.#tell(mark)
  }

  /** Tells again what may have been lost with the old connection. */
  onOpen(): void {
    this.#told.clear()
    this.#provenByPong.clear()
    this.#tellAll()
  }

  #tellAll(): void {
    const untold = [...this.#marks.values()].filter(({ readSeq, toldSeq }) => readSeq > toldSeq)
    // What was just marked may be on its way to the disk still.
    this.#context.journal.record([], () => {
      for (const mark of untold) this.#tell(mark)
    })
  }

  stop(): void {
    this.#cancelRetry?.()
  }

  /** Decides on a refusal; false where it is not one of a receipt that can be told again. */
  onError(frame: ErrorFrame): boolean {
    const mark = frame.id === undefined ? this.#marks.get(frame.conv_id ?? '') : undefined
    if (!mark || !isErrorCode(frame.error) || errors[frame.error].retry === 'never') return false
    // The pong to come proves nothing of what was refused.
    this.#told.delete(mark.conversationId)
    this.#provenByPong.delete(mark.conversationId)
    // A pong is heard at once, a refusal in its turn: what the pong seemed to prove is taken back.
    this.#marks.set(mark.conversationId, { ...mark, toldSeq: 0 })
    const waitMs = Math.max(this.#backoff.nextMs(), Math.min(frame.retry_after_ms ?? 0, RETRY.maxMs))
    this.#cancelRetry?.()
    this.#cancelRetry = this.#context.platform.clock.after(waitMs, () => this.#tellAll())
    return true
  }

  onPing(): void {
    this.#provenByPong = new Map(this.#told)
  }

  /** The relay answers in order, so it has what left before the heartbeat this answers. */
  onPong(): void {
    for (const [conversationId, toldSeq] of this.#provenByPong) {
      const mark = this.#marks.get(conversationId)
      if (!mark || mark.toldSeq >= toldSeq) continue
      this.#backoff.reset()
      const proven = { ...mark, toldSeq }
      this.#marks.set(conversationId, proven)
      this.#context.journal.record([{ change: 'read_mark', mark: proven }])
    }
    this.#provenByPong.clear()
  }

  #tell(mark: ReadMark): void {
    const session = this.#context.sessions.find(mark.conversationId)
    if (!session) return
    const { conversationId, readSeq } = mark
    const sent = this.#context.send({
      type: 'read',
      conv_id: conversationId,
      seq: readSeq,
      to: session.theirAliasId,
    })
    if (sent) this.#told.set(conversationId, readSeq)
  }
}
