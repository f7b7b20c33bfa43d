// The conversations of one connection of which stored messages were passed over. A client's next `delivered`,
// which is cumulative, would erase them, so no later message of the conversation may overtake them. There are
// two reasons (protocol, Delivery 5):
// - The first messages of a conversation wait. Older clients cannot decrypt a message of a conversation that
//   they have not seen in their friend list: they drop it. So the messages wait until the friend list has
//   named the conversation, or at most for a while.
// - The messages of a suspended account are withheld. The store says whose they are, so the next reading
//   finds out that the suspension has ended, also if this connection was not told.
import type { ConversationId, Limits } from '@sotto/protocol'
import type { MailboxRing } from '../cluster/bus.ts'
import type { After } from '../operations/after.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId } from '../storage/storage.ts'
import type { WaitingFrame } from './mailbox-reader.ts'

/** The part of a stored frame that decides whether it waits. */
type Row = Pick<
  WaitingFrame,
  'position' | 'seq' | 'convId' | 'unlistedSince' | 'isRetraction' | 'withheldFrom'
>

/** A conversation of which messages are withheld. Its retractions go. */
interface Withheld {
  /** The suspended account that sent them. */
  readonly sender: AccountId
  /** Everything up to here has been sent, or is not this conversation's. */
  readonly afterSeq: number
}

/** A conversation of which stored frames were passed over because they are its first, or goes again. */
interface Waiting {
  /** The acceptance that it waits after. */
  readonly since: number
  /** When the wait ends, in monotonic milliseconds. */
  readonly until: number
  /** Whether the wait has ended, so that its frames can be sent. */
  readonly isReleased: boolean
  /** Everything up to here has been sent, or is not this conversation's. */
  readonly afterSeq: number
  readonly afterPosition: number
}

/** An acceptance whose wait has ended on this connection. */
interface Ended {
  readonly since: number
  /** Whether time ended the wait, so that the frames are sent again when the friend list is read. */
  readonly isByTime: boolean
}

const RELEASED = { since: 0, until: 0, isReleased: true, afterSeq: 0, afterPosition: 0 } as const

/** How much later than expected a friend list may be recorded as read. */
const RECORDING_MS = 1000

export interface HeldParts {
  readonly clock: Clock
  readonly after: After
  readonly limits: Pick<Limits, 'unlistedSeconds' | 'listedSeconds'>
  /** Called when time has ended the wait of a conversation. */
  readonly onReleased: () => void
}

export class HeldConversations {
  readonly #parts: HeldParts
  readonly #openedAt: number
  readonly #waiting = new Map<ConversationId, Waiting>()
  readonly #withheld = new Map<ConversationId, Withheld>()
  /** Conversations whose suspension has ended, until the store was read again. */
  readonly #lifted = new Set<ConversationId>()
  readonly #ended = new Map<ConversationId, Ended>()
  /** Conversations that a friend list on its way names, and when the client will have read it. */
  readonly #listing = new Map<ConversationId, number>()
  /** Whether the client needs no friend list before messages. */
  #isOff: boolean
  #cancelTimer: (() => void) | undefined
  #timerUntil = Number.POSITIVE_INFINITY

  constructor(parts: HeldParts) {
    this.#parts = parts
    this.#openedAt = parts.clock.monotonic()
    this.#isOff = parts.limits.unlistedSeconds === 0
  }

  /** Whether new frames must not be sent at once, because some might have to wait. */
  blocks({ hasUnlisted, convIds }: Pick<MailboxRing, 'hasUnlisted' | 'convIds'>): boolean {
    if (this.#waiting.size > 0 || (hasUnlisted && !this.#isOff)) return true
    return this.#withheld.size > 0 && convIds.some((convId) => this.#withheld.has(convId))
  }

  /** Whether a frame of the mailbox is passed over for now. */
  skips(row: Row): boolean {
    if (this.#withholds(row)) return true
    const isHeld = this.#holds(row)
    if (!row.isRetraction) this.#endWithholding(row.convId)
    return isHeld || this.#waiting.has(row.convId)
  }

  /**
   * The conversation whose frames can be sent now, if any, and the `seq` after which they are unsent. To be
   * called between two readings of the store.
   */
  findReleased(): { convId: ConversationId; afterSeq: number } | undefined {
    for (const convId of this.#lifted) this.#endWithholding(convId)
    this.#lifted.clear()
    for (const [convId, { isReleased, afterSeq }] of this.#waiting) {
      if (isReleased) return { convId, afterSeq }
    }
    return undefined
  }

  /**
   * Whether frames of a released conversation, read together, must be read again: the suspension of their
   * sender ended after earlier ones were passed over as withheld.
   */
  mustRewind(convId: ConversationId, rows: readonly Row[]): boolean {
    const isSendable = (row: Row): boolean => !row.isRetraction && row.withheldFrom === undefined
    return rows.some(isSendable) && this.#endWithholding(convId)
  }

  /**
   * The next frame of a released conversation, of which all up to `afterSeq` were taken.
   * @returns whether it is sent: not if it is withheld, or if the conversation waits again or goes from the
   * start
   */
  takesReleased(row: Row, afterSeq: number): boolean {
    const { convId, seq, position } = row
    const waiting = this.#findReleased(convId, afterSeq)
    // What was withheld may be the first of its conversation.
    if (!waiting || (row.withheldFrom === undefined && this.#holds(row))) return false
    this.#waiting.set(convId, { ...waiting, afterSeq: seq, afterPosition: position })
    return !this.#withholds(row)
  }

  /** All frames of a released conversation were taken that the mailbox's reading has passed. */
  allReleasedIsTaken(convId: ConversationId, afterSeq: number): void {
    if (this.#findReleased(convId, afterSeq)) this.#waiting.delete(convId)
  }

  /** All retractions of a mailbox up to this position were sent, if it was read so far. */
  get sentUpTo(): number {
    let position = Number.POSITIVE_INFINITY
    for (const { afterPosition } of this.#waiting.values()) position = Math.min(position, afterPosition)
    return position
  }

  /**
   * A friend list that names conversations is on its way. Until it is read, no further frame of them is sent,
   * also if time has ended the wait: the client could confirm it, and so erase those that it dropped before.
   */
  listing(conversations: ReadonlyMap<ConversationId, number>): void {
    if (this.#isOff) return
    const { clock, limits } = this.#parts
    const until = clock.monotonic() + limits.listedSeconds * 1000 + RECORDING_MS
    for (const [convId, since] of conversations) {
      const ended = this.#ended.get(convId)
      if (ended?.since === Number.POSITIVE_INFINITY) continue // It has confirmed something.
      this.#listing.set(convId, until)
      const waiting = this.#waiting.get(convId)
      if (ended?.isByTime) {
        this.#ended.delete(convId)
        this.#wait(convId, { since, until, isReleased: false, afterSeq: 0, afterPosition: 0 })
      } else if (waiting && !waiting.isReleased && waiting.until < until) {
        this.#wait(convId, { ...waiting, until })
      }
    }
  }

  /**
   * A friend list has named conversations. Their frames go now; those that went already because the wait was
   * over go again. @returns whether there are any
   */
  listed(conversations: ReadonlyMap<ConversationId, number>): boolean {
    let hasAny = false
    for (const [convId, since] of conversations) {
      this.#listing.delete(convId)
      const waiting = this.#waiting.get(convId)
      if (waiting && waiting.since > since) continue // The friendship was renewed after the list was read.
      const ended = this.#ended.get(convId)
      this.#ended.set(convId, { since: Math.max(since, ended?.since ?? 0), isByTime: false })
      if (ended?.isByTime) this.#waiting.set(convId, { ...RELEASED, since })
      else this.#release(convId)
      hasAny ||= this.#waiting.has(convId)
    }
    return hasAny
  }

  /** The other account of a conversation is not suspended any more, so that what was withheld can be sent. */
  lifted(convId: ConversationId): void {
    this.#lifted.add(convId)
  }

  /** The conversations of which messages are withheld, each with the suspended account. */
  *withheld(): Iterable<{ readonly convId: ConversationId; readonly sender: AccountId }> {
    for (const [convId, { sender }] of this.#withheld) yield { convId, sender }
  }

  /**
   * The client has confirmed something in the conversation, so it knows it.
   * @returns whether frames can be sent now
   */
  confirmed(convId: ConversationId): boolean {
    if (this.#isOff) return false
    const ended = this.#ended.get(convId)
    if (ended?.since !== Number.POSITIVE_INFINITY)
      this.#ended.set(convId, { since: Number.POSITIVE_INFINITY, isByTime: ended?.isByTime ?? false })
    return this.#release(convId)
  }

  /** Whether the client needs no friend list before messages. @returns whether frames can be sent now */
  setOff(isOff: boolean): boolean {
    this.#isOff = isOff || this.#parts.limits.unlistedSeconds === 0
    if (!this.#isOff) return false
    this.#ended.clear()
    this.#listing.clear()
    for (const convId of this.#waiting.keys()) this.#release(convId)
    return this.#waiting.size > 0
  }

  /** The mailbox is read from the start again, which also sends what was released. */
  restart(): void {
    this.#withheld.clear()
    for (const [convId, waiting] of this.#waiting) {
      if (waiting.isReleased) this.#waiting.delete(convId)
      // What was withheld before is not remembered any more, and may lie before the frames that wait.
      else this.#waiting.set(convId, { ...waiting, afterSeq: 0, afterPosition: 0 })
    }
  }

  close(): void {
    this.#cancelTimer?.()
    this.#waiting.clear()
    this.#withheld.clear()
  }

  #findReleased(convId: ConversationId, afterSeq: number): Waiting | undefined {
    const waiting = this.#waiting.get(convId)
    return waiting?.isReleased && waiting.afterSeq === afterSeq ? waiting : undefined
  }

  #withholds({ convId, seq, withheldFrom: sender }: Row): boolean {
    if (sender === undefined) return false
    const afterSeq = Math.min(this.#withheld.get(convId)?.afterSeq ?? seq, seq - 1)
    this.#withheld.set(convId, { sender, afterSeq })
    return true
  }

  // What was withheld is sent from the store, unless the conversation waits for another reason.
  #endWithholding(convId: ConversationId): boolean {
    const withheld = this.#withheld.get(convId)
    if (!withheld) return false
    this.#withheld.delete(convId)
    const waiting = this.#waiting.get(convId) ?? { ...RELEASED, afterSeq: withheld.afterSeq }
    const afterSeq = Math.min(waiting.afterSeq, withheld.afterSeq)
    this.#waiting.set(convId, { ...waiting, afterSeq })
    return true
  }

  // The rule. A conversation begins to wait at its first frame.
  #holds({ convId, unlistedSince, seq, position }: Row): boolean {
    if (this.#isOff || unlistedSince === 0) return false
    if (unlistedSince <= (this.#ended.get(convId)?.since ?? 0)) return false
    const waiting = this.#waiting.get(convId)
    if (waiting?.since === unlistedSince && !waiting.isReleased) return true
    const until = Math.max(this.#untilOf(unlistedSince), this.#listing.get(convId) ?? 0)
    if (until <= this.#parts.clock.monotonic()) {
      this.#ended.set(convId, { since: unlistedSince, isByTime: true })
      return false
    }
    this.#wait(convId, {
      since: unlistedSince,
      until,
      isReleased: false,
      afterSeq: waiting?.afterSeq ?? seq - 1,
      afterPosition: waiting?.afterPosition ?? position - 1,
    })
    return true
  }

  #wait(convId: ConversationId, waiting: Waiting): void {
    this.#waiting.set(convId, waiting)
    if (waiting.until < this.#timerUntil) this.#setTimer(waiting.until)
  }

  // The wall clock may jump, so the wait after an acceptance is never longer than after connecting just now.
  #untilOf(unlistedSince: number): number {
    const { clock, limits } = this.#parts
    const mostMs = limits.unlistedSeconds * 1000
    const sinceMs = Math.max(0, clock.now() - unlistedSince)
    return Math.max(this.#openedAt, clock.monotonic() - sinceMs) + mostMs
  }

  #release(convId: ConversationId): boolean {
    const waiting = this.#waiting.get(convId)
    if (!waiting || waiting.isReleased) return waiting !== undefined
    this.#waiting.set(convId, { ...waiting, isReleased: true })
    // The next reading says whether they are still withheld.
    this.#endWithholding(convId)
    return true
  }

  // One timer for all, at the earliest end.
  #setTimer(until: number): void {
    const { after, clock } = this.#parts
    this.#cancelTimer?.()
    this.#timerUntil = until
    this.#cancelTimer = after(Math.max(0, until - clock.monotonic()), () => this.#endWaits(until))
  }

  #endWaits(until: number): void {
    let next = Number.POSITIVE_INFINITY
    let hasReleased = false
    for (const [convId, waiting] of this.#waiting) {
      if (waiting.isReleased) continue
      if (waiting.until > until) {
        next = Math.min(next, waiting.until)
        continue
      }
      this.#listing.delete(convId)
      this.#ended.set(convId, { since: waiting.since, isByTime: true })
      hasReleased = this.#release(convId)
    }
    this.#timerUntil = next
    if (next < Number.POSITIVE_INFINITY) this.#setTimer(next)
    if (hasReleased) this.#parts.onReleased()
  }
}
