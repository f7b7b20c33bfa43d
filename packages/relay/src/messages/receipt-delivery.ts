// Decides when the marks of receipts leave on one connection. Older clients ignore the `seq` of a mark and
// take it for all of their messages in the conversation. They get only marks that cover all of these, and
// none while their acks arrive (protocol, Delivery 6). A mark that waits stays stored as untold, and is read
// again when it may leave.
import type { ChangedReceipts } from '../cluster/bus.ts'
import type { After } from '../operations/after.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Acknowledged } from './batch.ts'
import type { MailboxReader, WaitingReceipts } from './mailbox-reader.ts'
import type { Unconfirmed } from './unconfirmed.ts'

/** How long a connection's marks wait for its first `sync`. */
const FIRST_SYNC_MS = 1000
/** How long the marks of a conversation wait after the last repeat of one of its messages. */
const AFTER_REPEAT_MS = 500
/** How long repeats can keep them waiting. */
const MOST_AFTER_REPEATS_MS = 2000

/**
 * How the client of a connection reads receipts, as its last `sync` said: up to their `seq`, or, as older
 * clients do, as marks of all its messages in the conversation. Unknown until the first `sync`.
 */
export type ClientKind = 'unknown' | 'by_seq' | 'older'

/** The part of the mailbox reader that marks need. */
export type ReceiptReader = Pick<MailboxReader, 'readReceipts'>

/** The marks of a conversation wait for the end of its repeats. */
interface RepeatWait {
  cancelQuiet: () => void
  readonly cancelMost: () => void
}

export class ReceiptDelivery {
  #clientKind: ClientKind = 'unknown'
  /** Whether the client had its time for a first `sync`. */
  #hadTimeForSync = false
  #isClosed = false
  readonly #connection: { readonly account: AccountId; send(frame: string): void }
  readonly #reader: ReceiptReader
  readonly #unconfirmed: Unconfirmed
  readonly #after: After
  readonly #onFailure: (error: unknown) => void
  readonly #cancelFirstSync: () => void
  readonly #waits = new Map<number, RepeatWait>()
  /**
   * The last `seq` of each conversation that an older client may know of: as the store was read on this
   * connection, or of a message whose `ack` left since. Marks that were judged earlier, or on another node
   * before this connection was opened, are judged again.
   */
  readonly #lastKnown = new Map<number, number>()
  /** The conversations whose marks have to be read from the store. */
  readonly #toRead = new Set<number>()
  #isReading = false

  constructor(parts: {
    connection: { readonly account: AccountId; send(frame: string): void }
    reader: ReceiptReader
    unconfirmed: Unconfirmed
    after: After
    /** Called if the store cannot be read. */
    onFailure: (error: unknown) => void
  }) {
    this.#connection = parts.connection
    this.#reader = parts.reader
    this.#unconfirmed = parts.unconfirmed
    this.#after = parts.after
    this.#onFailure = parts.onFailure
    this.#cancelFirstSync = this.#after(FIRST_SYNC_MS, () => {
      this.#hadTimeForSync = true
      this.sendUntold().catch(this.#onFailure)
    })
  }

  get clientKind(): ClientKind {
    return this.#clientKind
  }

  /** A `sync` says how the client reads receipts. Call {@link sendUntold} after it. */
  clientIs(kind: 'by_seq' | 'older'): void {
    this.#clientKind = kind
    this.#cancelFirstSync()
    if (kind === 'by_seq') this.#cancelWaits()
  }

  close(): void {
    this.#isClosed = true
    this.#cancelFirstSync()
    this.#cancelWaits()
  }

  /** Marks changed. They are sent at once, unless they have to wait or are not true of all messages. */
  changed(receipts: ChangedReceipts): void {
    if (!this.#mayLeave || this.#waits.has(receipts.conversation)) return
    if (this.#isOlder && receipts.hasNewlyCovering) this.#read(receipts.conversation)
    else this.#send(receipts, { repeats: true })
  }

  /** The `ack` of a message is about to leave. */
  acknowledged({ conversation, seq, isRepeat }: Omit<Acknowledged, 'recipient'>): void {
    if (isRepeat) this.#repeated(conversation)
    else if (this.#isOlder) this.#knows(conversation, seq)
  }

  /**
   * Sends the stored marks that may not have arrived.
   * @param options.repeats whether to send those again that left on this connection
   * @returns how many frames were sent
   */
  async sendUntold(options = { repeats: false }): Promise<number> {
    if (!this.#mayLeave) return 0
    const rows = await this.#reader.readReceipts(this.#connection.account)
    let sent = 0
    for (const row of rows) {
      this.#knows(row.conversation, row.lastSeq)
      if (!this.#waits.has(row.conversation)) sent += this.#send(row, options)
    }
    return sent
  }

  /** Whether the client must be treated as one that ignores `seq`. */
  get #isOlder(): boolean {
    return this.#clientKind !== 'by_seq'
  }

  get #mayLeave(): boolean {
    return !this.#isClosed && (this.#clientKind !== 'unknown' || this.#hadTimeForSync)
  }

  #send(receipts: WaitingReceipts, { repeats }: { repeats: boolean }): number {
    if (this.#isClosed) return 0
    const { conversation, toldRound, lastSeq, marks } = receipts
    if (this.#isOlder && (this.#lastKnown.get(conversation) ?? Number.POSITIVE_INFINITY) > lastSeq) {
      this.#read(conversation)
      return 0
    }
    let sent = 0
    for (const mark of marks) {
      if (this.#isOlder && !mark.coversAll) continue
      const { deliveredSeq, readSeq } = mark
      const receipt = { conversation, toldRound, deliveredSeq, readSeq }
      if (!repeats && this.#unconfirmed.hasSent(receipt)) continue
      this.#connection.send(mark.frame)
      this.#unconfirmed.receiptSent(receipt)
      sent += 1
    }
    return sent
  }

  #repeated(conversation: number): void {
    // The repeat was committed before this moment, so marks may have left in between, ahead of its ack.
    this.#unconfirmed.forgetReceipts(conversation)
    if (!this.#isOlder) {
      this.#read(conversation)
      return
    }
    const end = (): void => {
      this.#endWait(conversation)
      if (this.#mayLeave) this.#read(conversation)
    }
    const wait = this.#waits.get(conversation)
    wait?.cancelQuiet()
    const cancelQuiet = this.#after(AFTER_REPEAT_MS, end)
    if (wait) wait.cancelQuiet = cancelQuiet
    else this.#waits.set(conversation, { cancelQuiet, cancelMost: this.#after(MOST_AFTER_REPEATS_MS, end) })
  }

  #endWait(conversation: number): void {
    const wait = this.#waits.get(conversation)
    wait?.cancelQuiet()
    wait?.cancelMost()
    this.#waits.delete(conversation)
  }

  #cancelWaits(): void {
    for (const conversation of [...this.#waits.keys()]) this.#endWait(conversation)
  }

  #knows(conversation: number, seq: number): void {
    this.#lastKnown.set(conversation, Math.max(seq, this.#lastKnown.get(conversation) ?? 0))
  }

  #read(conversation: number): void {
    this.#toRead.add(conversation)
    if (this.#isReading) return
    this.#isReading = true
    this.#readAll().catch(this.#onFailure)
  }

  async #readAll(): Promise<void> {
    try {
      while (this.#toRead.size > 0) {
        // An ack that made it necessary leaves in the same tick of the event loop, before the marks.
        await new Promise((resolve) => setImmediate(resolve))
        const conversations = [...this.#toRead]
        this.#toRead.clear()
        for (const conversation of conversations) {
          if (this.#isClosed) return
          const rows = await this.#reader.readReceipts(this.#connection.account, conversation)
          for (const row of rows) {
            this.#knows(conversation, row.lastSeq)
            if (!this.#waits.has(conversation)) this.#send(row, { repeats: false })
          }
        }
      }
    } finally {
      this.#isReading = false
    }
  }
}
