// Delivers frames to one connection: first the backlog, then live traffic, with no gap, no repetition and no
// reordering (protocol, Delivery 5). `#position` is the mailbox position up to which frames were sent. The
// frames of a ring (a notification on the bus) are sent only if they continue exactly there. Otherwise the
// store is read, which also bounds the memory that a slow reader takes. Frames of conversations that wait
// (held-conversations.ts) are passed over, and sent later from the store.
import {
  type ClientFrameOf,
  type ConversationId,
  EPOCH_VERSION,
  encodeFrame,
  type Limits,
} from '@sotto/protocol'
import type { MailboxRing, Ring } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import { type After, systemAfter } from '../operations/after.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { Acknowledged } from './batch.ts'
import type { Due } from './due.ts'
import { HeldConversations } from './held-conversations.ts'
import type { Arrived, MailboxReader, WaitingFrame } from './mailbox-reader.ts'
import type { Notice } from './notices.ts'
import { newReading, type Reading, resume, untilDrained } from './reading.ts'
import { type ClientKind, ReceiptDelivery } from './receipt-delivery.ts'
import { SentRetractions } from './sent-retractions.ts'
import { Unconfirmed } from './unconfirmed.ts'

/**
 * How many frames one query reads. The first query reads few; the next ones as many as fit the window by
 * their size.
 */
const FIRST_ROWS = 8
const MOST_ROWS = 400

/** The part of a connection that deliveries use. */
export type DeliveredConnection = Pick<
  Connection,
  'account' | 'epoch' | 'untilEpoch' | 'send' | 'sendAll' | 'bufferedBytes' | 'flush' | 'ping' | 'close'
>

/** The part of the mailbox reader that deliveries use. */
export type DeliveryReader = Pick<
  MailboxReader,
  'lastPosition' | 'read' | 'readConversation' | 'readReceipts' | 'readNotices'
>

/** What the delivery to one connection needs. */
export interface DeliveryParts {
  readonly reader: DeliveryReader
  readonly limits: Pick<Limits, 'windowBytes' | 'unlistedSeconds' | 'listedSeconds'>
  readonly clock: Clock
  readonly after?: After
  readonly log: Log
  /** What tells clients that the relay was restored from a backup, because it has changed. */
  readonly incarnation: string
}

type State =
  /** Rings are sent at once. */
  { readonly kind: 'live' } | Reading | { readonly kind: 'closed' }

const LIVE: State = { kind: 'live' }
const CLOSED: State = { kind: 'closed' }

export class ConnectionDelivery {
  readonly connection: DeliveredConnection
  readonly #reader: DeliveryReader
  readonly #windowBytes: number
  readonly #log: Log
  readonly #incarnation: string
  readonly #unconfirmed = new Unconfirmed()
  readonly #receipts: ReceiptDelivery
  readonly #held: HeldConversations
  readonly #retractions = new SentRetractions(this.#unconfirmed)
  #state: State = LIVE
  #position = 0
  /** The notices that left on this connection. */
  readonly #sentNotices = new Set<number>()
  #hadFirstSync = false
  #hasSentBacklog = false
  /** Whether the first `sync` still has to be answered, after what it released. */
  #owesSyncEnd = false

  constructor(connection: DeliveredConnection, parts: DeliveryParts) {
    this.connection = connection
    this.#reader = parts.reader
    this.#windowBytes = parts.limits.windowBytes
    this.#log = parts.log
    this.#incarnation = parts.incarnation
    const after = parts.after ?? systemAfter
    this.#receipts = new ReceiptDelivery({
      ...{ connection, reader: parts.reader, unconfirmed: this.#unconfirmed },
      after,
      onFailure: (error) => this.#fail(error),
    })
    this.#held = new HeldConversations({ ...parts, after, onReleased: () => this.readAgain() })
  }

  get clientKind(): ClientKind {
    return this.#receipts.clientKind
  }

  /** Starts to send the backlog. */
  open(): void {
    this.#restart()
  }

  /** Reads the store again, for messages that no ring announced. */
  readAgain(): void {
    if (this.#state.kind === 'live') this.#catchUp()
    else if (this.#state.kind === 'reading') {
      this.#state.isCaughtUp = false
      this.#state.mustReadAgain = true
    }
  }

  close(): void {
    const state = this.#state
    this.#state = CLOSED
    this.#receipts.close()
    this.#held.close()
    if (state.kind === 'reading') resume(state)
  }

  /**
   * The first `sync` requests the backlog, which is being sent already, and the marks that waited for it. A
   * later one requests everything unconfirmed. Each says how the client reads receipts, and which versions of
   * messages.
   */
  sync({ receipts, crypto_v: version = 1 }: Omit<ClientFrameOf<'sync'>, 'type'>): void {
    this.#receipts.clientIs(receipts ?? 'older')
    const isListed = this.#held.setOff(receipts === 'by_seq')
    const hasReleased = this.#held.setReadsVersion3(version >= EPOCH_VERSION) || isListed
    if (hasReleased) this.readAgain()
    if (this.#hadFirstSync) this.#restart()
    else if (this.#hasSentBacklog && hasReleased) this.#owesSyncEnd = true
    else if (this.#hasSentBacklog) this.#endFirstSync(0).catch((error) => this.#fail(error))
    this.#hadFirstSync = true
  }

  /** A friend list that names conversations leaves for the client. */
  listing(conversations: ReadonlyMap<ConversationId, number>): void {
    this.#held.listing(conversations)
  }

  /** A friend list has named conversations to the client, so that their first messages need not wait. */
  listed(conversations: ReadonlyMap<ConversationId, number>): void {
    if (this.#held.listed(conversations)) this.readAgain()
  }

  /** The reason may have ended for which messages of a conversation were withheld. */
  released(convId: ConversationId): void {
    this.#held.lifted(convId)
    this.readAgain()
  }

  /** The conversations of which messages are withheld, each with the suspended account. */
  get withheld(): ReturnType<HeldConversations['withheld']> {
    return this.#held.withheld()
  }

  /**
   * Whether the client reads messages of `crypto_v` 3, as its last `sync` said; undefined if it sent none.
   */
  get readsVersion3(): boolean | undefined {
    return this.#hadFirstSync ? this.#held.readsVersion3 : undefined
  }

  /** The client has confirmed something in a conversation. */
  confirmed(convId: ConversationId): void {
    if (this.#held.confirmed(convId)) this.readAgain()
  }

  /**
   * New frames in the mailbox. They are sent at once if they continue at the position, else they are read
   * later.
   */
  onMailboxRing(ring: MailboxRing): void {
    const state = this.#state
    if (state.kind === 'closed') return
    if (state.kind === 'reading') {
      state.announcedPosition = Math.max(state.announcedPosition, ring.lastPosition)
      if (!state.isCaughtUp) return
    }
    if (ring.lastPosition <= this.#position) return
    const fits = this.connection.bufferedBytes + ring.bytes <= this.#windowBytes
    if (ring.firstPosition !== this.#position + 1 || !fits || this.#held.blocks(ring)) {
      if (state.kind === 'reading') state.isCaughtUp = false
      else this.#catchUp({ announcedPosition: ring.lastPosition })
      return
    }
    this.connection.sendAll(ring.frames)
    this.#position = ring.lastPosition
    if (ring.hasRetractions) this.#retractions.sent(ring.lastPosition)
    this.#retractions.record(this.#held)
  }

  /** Marks changed. They are not part of the mailbox's order. */
  onReceiptRing(ring: Extract<Ring, { kind: 'receipt' }>): void {
    this.#receipts.changed(ring)
  }

  /** The `ack` of a message is about to leave. */
  acknowledged(message: Acknowledged): void {
    this.#receipts.acknowledged(message)
  }

  /** A new notice: a stored frame that is not part of the mailbox's order. */
  onNotice(notice: Notice): void {
    if (!this.#sentNotices.has(notice.id)) this.#sendNotice(notice)
  }

  /** The store was asked, because rings may have been lost. What is due goes now. */
  look({ lastPosition, hasReceipts, notices }: Due): void {
    const state = this.#state
    if (state.kind === 'closed') return
    if (lastPosition > this.#position) {
      if (state.kind === 'live') this.#catchUp({ announcedPosition: lastPosition })
      else {
        state.announcedPosition = Math.max(state.announcedPosition, lastPosition)
        state.isCaughtUp = false
      }
    }
    // Until then the backlog brings them.
    if (!this.#hasSentBacklog) return
    for (const notice of notices) this.onNotice(notice)
    if (hasReceipts) this.#receipts.sendUntold().catch((error) => this.#fail(error))
  }

  /** Sends a WebSocket ping if a frame that was sent needs one to be confirmed. */
  pingIfNeeded(): void {
    if (!this.#unconfirmed.needsPing) return
    this.#unconfirmed.pingSent()
    this.connection.ping()
  }

  pongReceived(): void {
    this.#unconfirmed.pongReceived()
  }

  /** Counts a frame from the client. @returns what has certainly arrived by now, if anything new has */
  frameReceived(): Arrived | undefined {
    return this.#unconfirmed.frameReceived()
  }

  /** The peer has received what was buffered. */
  drained(): void {
    if (this.#state.kind === 'reading') resume(this.#state)
  }

  #restart(): void {
    if (this.#state.kind === 'live') this.#catchUp({ requestedRestarts: 1 })
    else if (this.#state.kind === 'reading') this.#state.requestedRestarts += 1
  }

  #catchUp(start: Partial<Pick<Reading, 'requestedRestarts' | 'announcedPosition'>> = {}): void {
    const reading = newReading({ announcedPosition: this.#position, ...start })
    this.#state = reading
    this.#readUntilLive(reading).catch((error) => this.#fail(error))
  }

  #fail(error: unknown): void {
    if (this.#state === CLOSED) return
    this.close()
    this.#log.error('delivery_failed', { error, account: this.connection.account })
    this.connection.close('overload')
  }

  async #readUntilLive(reading: Reading): Promise<void> {
    while (this.#state === reading) {
      const restarts = reading.requestedRestarts
      if (restarts > 0) this.#beginAgain()
      reading.requestedRestarts = 0
      const count = await this.#readToEnd(reading)
      if (this.#state !== reading) return
      // If another request came meanwhile, the loop starts over and answers all of them.
      if (reading.requestedRestarts > 0) reading.requestedRestarts += restarts
      else if (restarts > 0) await this.#finishRestarts(reading, restarts, count)
      if (this.#owesSyncEnd && !this.#isInterrupted(reading)) {
        this.#owesSyncEnd = false
        await this.#endFirstSync(count)
      }
      const isDone = reading.isCaughtUp && reading.requestedRestarts === 0
      if (isDone && this.#state === reading) this.#state = LIVE
    }
  }

  /** Reads and sends until nothing is left or a restart is requested. @returns how many frames were sent */
  async #readToEnd(reading: Reading): Promise<number> {
    reading.isCaughtUp = false
    let count = 0
    let most = FIRST_ROWS
    while (this.#state === reading && reading.requestedRestarts === 0) {
      reading.mustReadAgain = false
      const announced = reading.announcedPosition
      const last = Math.max(announced, await this.#reader.lastPosition(this.connection.account))
      const rows = await this.#reader.read(this.connection.account, this.#position, most)
      count += await this.#sendRows(reading, rows, (row) => {
        this.#position = row.position
        return !this.#held.skips(row)
      })
      if (this.#isInterrupted(reading)) return count
      const isLast = rows.length < most
      if (!isLast) most = this.#rowsFor(rows)
      // `last` was read before the rows, so each position up to it was among them or has no message any more.
      else this.#position = Math.max(this.#position, last)
      const released = this.#held.findReleased()
      if (released) count += await this.#sendReleased(reading, released, most)
      else if (isLast && reading.announcedPosition <= this.#position && !reading.mustReadAgain) {
        reading.isCaughtUp = true
        return count
      }
    }
    return count
  }

  /** Sends the next frames of a conversation that does not wait any more. @returns how many were sent */
  async #sendReleased(
    reading: Reading,
    { convId, afterSeq }: { convId: ConversationId; afterSeq: number },
    most: number,
  ): Promise<number> {
    const part = { convId, afterSeq, upToPosition: this.#position }
    const rows = await this.#reader.readConversation(this.connection.account, part, most)
    if (this.#held.mustRewind(rows)) return 0
    let last = afterSeq
    const count = await this.#sendRows(reading, rows, (row) => {
      const isTaken = this.#held.takesReleased(row, last)
      last = row.seq
      return isTaken
    })
    if (!this.#isInterrupted(reading) && rows.length < most) this.#held.allReleasedIsTaken(convId, last)
    this.#retractions.record(this.#held)
    return count
  }

  /**
   * Sends those rows that are taken, unless the reading is interrupted. @returns how many were sent
   */
  async #sendRows(
    reading: Reading,
    rows: readonly WaitingFrame[],
    takes: (row: WaitingFrame) => boolean,
  ): Promise<number> {
    let count = 0
    for (const row of rows) {
      if (this.#isWindowFull()) await untilDrained(reading)
      if (this.#isInterrupted(reading)) break
      if (!takes(row)) continue
      this.connection.send(row.frame)
      count += 1
      if (row.isRetraction) this.#retractions.sent(row.position)
    }
    this.#retractions.record(this.#held)
    return count
  }

  #isInterrupted(reading: Reading): boolean {
    return this.#state !== reading || reading.requestedRestarts > 0
  }

  #beginAgain(): void {
    this.#position = 0
    this.#retractions.restart()
    this.#held.restart()
  }

  #rowsFor(frames: readonly { frame: string }[]): number {
    const bytes = frames.reduce((sum, { frame }) => sum + frame.length, 0)
    const fitting = Math.floor((this.#windowBytes * frames.length) / Math.max(1, bytes))
    return Math.min(MOST_ROWS, Math.max(FIRST_ROWS, fitting))
  }

  async #finishRestarts(reading: Reading, restarts: number, count: number): Promise<void> {
    let sent = count + (await this.#sendNotices(reading))
    if (this.#state !== reading) return
    // The marks come last, so that the client's first `sync` has as much time as possible.
    sent += await this.#receipts.sendUntold({ repeats: this.#hasSentBacklog || restarts > 1 })
    // The first `sync` may have released messages meanwhile.
    if (this.#held.findReleased()) sent += await this.#readToEnd(reading)
    if (this.#state !== reading) return
    this.#hasSentBacklog = true
    for (let i = 0; i < restarts; i++) this.#endSync(sent)
  }

  /** Answers a first `sync` that came after the backlog. @param released how many frames were sent for it */
  async #endFirstSync(released: number): Promise<void> {
    const count = released + (await this.#receipts.sendUntold())
    if (this.#state !== CLOSED) this.#endSync(count)
  }

  #endSync(count: number): void {
    const incarnation = this.#held.readsVersion3 ? this.#incarnation : undefined
    this.connection.send(encodeFrame({ type: 'sync_end', count, incarnation }))
  }

  async #sendNotices(reading: Reading): Promise<number> {
    let sent = 0
    for (let last = 0; this.#state === reading; ) {
      const notices = await this.#reader.readNotices(this.connection.account, last, MOST_ROWS)
      for (const notice of notices) {
        if (this.#isWindowFull()) await untilDrained(reading)
        if (this.#state !== reading) return sent
        this.#sendNotice(notice)
        last = notice.id
        sent += 1
      }
      if (notices.length < MOST_ROWS) break
    }
    return sent
  }

  #sendNotice({ id, frame }: Notice): void {
    this.connection.send(frame)
    this.#unconfirmed.noticeSent(id)
    this.#sentNotices.add(id)
  }

  /** Whether the window is full, so that the peer must receive some bytes before more are sent. */
  #isWindowFull(): boolean {
    if (this.connection.bufferedBytes <= this.#windowBytes) return false
    this.connection.flush()
    return this.connection.bufferedBytes > this.#windowBytes
  }
}
