// One connection's deliveries: the backlog first, then live traffic, with no gap, no repetition and no reordering
// (protocol, Delivery 5). A position in the mailbox says how far the connection has come; whatever a ring could not
// hand over directly is read from the store, which is also what bounds memory for a slow reader.
import { encodeFrame } from '@sotto/protocol'
import type { Ring } from '../cluster/bus.ts'
import type { Connection } from '../gateway/connection.ts'
import type { Log } from '../operations/log.ts'
import type { Arrived, MailboxReader } from './mailbox-reader.ts'

/** Frames read from the store at a time: few at first, then as many as fit the window at the size they come in. */
const FIRST_PAGE = 8
const LARGEST_PAGE = 400

/** What was written to the connection and that no `delivered` will ever confirm. */
class Unconfirmed {
  retractionPosition = 0
  noticeId = 0
  readonly receipts = new Map<number, { deliveredSeq: number; readSeq: number }>()
}

export class ConnectionDelivery {
  readonly connection: Connection
  readonly #reader: MailboxReader
  readonly #windowBytes: number
  readonly #log: Log
  #position = 0
  #rungPosition = 0
  #isLive = false
  #isReading = false
  #wakeWhenDrained: (() => void) | undefined
  #isClosed = false
  // How often all that is unconfirmed is to be sent from the start, and whether the first time is through.
  #restartsWanted = 0
  #hadFirstSync = false
  #firstRoundDone = false
  #sent: Unconfirmed | undefined
  #pinged: Unconfirmed | undefined
  #ponged: Unconfirmed | undefined
  #framesAfterPong = 0

  constructor(connection: Connection, parts: { reader: MailboxReader; windowBytes: number; log: Log }) {
    this.connection = connection
    this.#reader = parts.reader
    this.#windowBytes = parts.windowBytes
    this.#log = parts.log
  }

  /** Starts with the backlog. */
  open(): void {
    this.#restartsWanted = 1
    this.#catchUp()
  }

  /** Reads what a ring may have failed to tell of. */
  lookAgain(): void {
    this.#isLive = false
    this.#catchUp()
  }

  close(): void {
    this.#isClosed = true
    this.drained()
  }

  /** The first `sync` asks for what is under way already; a later one for all that is unconfirmed. */
  sync(): void {
    if (this.#hadFirstSync) {
      this.#restartsWanted += 1
      this.#catchUp()
    } else if (this.#firstRoundDone) {
      this.connection.send(encodeFrame({ type: 'sync_end', count: 0 }))
    }
    this.#hadFirstSync = true
  }

  /** Something new in the mailbox. Handed on at once where it follows what was sent last, else read in its turn. */
  hearMailbox(ring: Extract<Ring, { kind: 'mailbox' }>): void {
    this.#rungPosition = Math.max(this.#rungPosition, ring.lastPosition)
    if (!this.#isLive || ring.lastPosition <= this.#position) return
    const fits = this.connection.bufferedBytes + ring.bytes <= this.#windowBytes
    if (ring.firstPosition !== this.#position + 1 || !fits) {
      this.#isLive = false
      this.#catchUp()
      return
    }
    this.connection.sendAll(ring.frames)
    this.#position = ring.lastPosition
    if (ring.hasRetractions) this.#unconfirmed().retractionPosition = ring.lastPosition
  }

  /** A mark that advanced. Sent at once: it stands outside the mailbox's order. */
  hearReceipt(ring: Extract<Ring, { kind: 'receipt' }>): void {
    this.connection.send(ring.frame)
    this.#noteReceipt(ring)
  }

  /** A kept frame that stands outside the mailbox's order. */
  hearNotice({ id, frame }: { id: number; frame: string }): void {
    this.connection.send(frame)
    const sent = this.#unconfirmed()
    sent.noticeId = Math.max(sent.noticeId, id)
  }

  /** True while something waits for a pong to be sent for. */
  get wantsPing(): boolean {
    return this.#sent !== undefined && this.#pinged === undefined && this.#ponged === undefined
  }

  /** Pings beneath the application: what was sent before counts as arrived soon after the answer (Delivery 6). */
  ping(): void {
    this.#pinged = this.#sent
    this.#sent = undefined
    this.connection.ping()
  }

  ponged(): void {
    if (!this.#pinged) return
    this.#ponged = this.#pinged
    this.#pinged = undefined
    this.#framesAfterPong = 0
  }

  /**
   * Counts a frame of the application: browsers answer a ping beneath a page that may be dead.
   * @returns what has arrived for certain, at the second frame after a pong
   */
  frameReceived(): Arrived | undefined {
    if (!this.#ponged) return undefined
    this.#framesAfterPong += 1
    if (this.#framesAfterPong < 2) return undefined
    const arrived = this.#ponged
    this.#ponged = undefined
    return arrived
  }

  /** The reader has taken what was written ahead. */
  drained(): void {
    this.#wakeWhenDrained?.()
    this.#wakeWhenDrained = undefined
  }

  #catchUp(): void {
    if (this.#isReading) return
    this.#isReading = true
    this.#readUntilLive().catch((error) => {
      this.#isReading = false
      if (this.#isClosed) return
      this.#log.error('delivery_failed', { error, account: this.connection.account })
      this.connection.close('overload')
    })
  }

  async #readUntilLive(): Promise<void> {
    while (!this.#isClosed) {
      const rounds = this.#restartsWanted
      if (rounds > 0) this.#position = 0
      this.#restartsWanted = 0
      const count = await this.#readToTheEnd()
      if (this.#isClosed) break
      if (this.#restartsWanted > 0)
        this.#restartsWanted += rounds // Asked again meanwhile: start over, answer both.
      else if (rounds > 0) await this.#finishRounds(rounds, count)
      if (this.#isLive && this.#restartsWanted === 0) break
    }
    this.#isReading = false
  }

  /** Reads and sends until nothing is left; the connection is live when it returns, unless a restart is wanted. */
  async #readToTheEnd(): Promise<number> {
    this.#isLive = false
    let count = 0
    let most = FIRST_PAGE
    while (!this.#isClosed && this.#restartsWanted === 0) {
      const rung = this.#rungPosition
      const last = Math.max(rung, await this.#reader.lastPosition(this.connection.account))
      const frames = await this.#reader.read(this.connection.account, this.#position, most)
      for (const { position, frame, isRetraction } of frames) {
        if (this.#isAhead()) await this.#untilDrained()
        if (this.#isClosed || this.#restartsWanted > 0) return count
        this.connection.send(frame)
        this.#position = position
        if (isRetraction) this.#unconfirmed().retractionPosition = position
      }
      count += frames.length
      if (frames.length === most) {
        most = this.#pageFor(frames)
        continue
      }
      // `last` was read before the page: everything up to it was either in a page or is gone.
      this.#position = Math.max(this.#position, last)
      if (this.#rungPosition <= this.#position) {
        this.#isLive = true
        return count
      }
    }
    return count
  }

  #pageFor(frames: readonly { frame: string }[]): number {
    const bytes = frames.reduce((sum, { frame }) => sum + frame.length, 0)
    const fitting = Math.floor((this.#windowBytes * frames.length) / Math.max(1, bytes))
    return Math.min(LARGEST_PAGE, Math.max(FIRST_PAGE, fitting))
  }

  async #finishRounds(rounds: number, count: number): Promise<void> {
    const { account } = this.connection
    let sent = count
    for (const { frames, ...receipt } of await this.#reader.readReceipts(account)) {
      for (const frame of frames) this.connection.send(frame)
      sent += frames.length
      this.#noteReceipt(receipt)
    }
    sent += await this.#sendNotices()
    this.#firstRoundDone = true
    for (let round = 0; round < rounds; round++)
      this.connection.send(encodeFrame({ type: 'sync_end', count: sent }))
  }

  async #sendNotices(): Promise<number> {
    let sent = 0
    for (let last = 0; !this.#isClosed; ) {
      const notices = await this.#reader.readNotices(this.connection.account, last, LARGEST_PAGE)
      for (const notice of notices) {
        if (this.#isAhead()) await this.#untilDrained()
        this.hearNotice(notice)
        last = notice.id
        sent += 1
      }
      if (notices.length < LARGEST_PAGE) break
    }
    return sent
  }

  #noteReceipt(receipt: { conversation: number; deliveredSeq: number; readSeq: number }): void {
    const { receipts } = this.#unconfirmed()
    const known = receipts.get(receipt.conversation)
    receipts.set(receipt.conversation, {
      deliveredSeq: Math.max(receipt.deliveredSeq, known?.deliveredSeq ?? 0),
      readSeq: Math.max(receipt.readSeq, known?.readSeq ?? 0),
    })
  }

  #unconfirmed(): Unconfirmed {
    this.#sent ??= new Unconfirmed()
    return this.#sent
  }

  /** True where as much is written ahead as may be: the peer has to take some first. */
  #isAhead(): boolean {
    if (this.connection.bufferedBytes <= this.#windowBytes) return false
    this.connection.flush()
    return this.connection.bufferedBytes > this.#windowBytes
  }

  #untilDrained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeWhenDrained = resolve
    })
  }
}
