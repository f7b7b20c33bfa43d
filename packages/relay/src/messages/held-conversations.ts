// The conversations of one connection of which stored messages were passed over. A client's next `delivered`,
// which is cumulative, would erase them, so no later message of the conversation may overtake them. There are
// three reasons (protocol, Delivery 5):
// - The first messages of a conversation wait. Older clients cannot decrypt a message of a conversation that
//   they have not seen in their friend list: they drop it. So the messages wait until the friend list has
//   named the conversation, or at most for a while.
// - The messages of a suspended account are withheld. The store says whose they are, so the next reading
//   finds out that the suspension has ended, also if this connection was not told.
// - A message of `crypto_v` 3 waits for a client that reads this version, and all later ones of the
//   conversation with it. The store says which is the first, so the next reading finds out that it is gone.
import type { ConversationId, Limits } from '@sotto/protocol'
import type { MailboxRing } from '../cluster/bus.ts'
import type { After } from '../operations/after.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId } from '../storage/storage.ts'
import type { WaitingFrame } from './mailbox-reader.ts'

/** The part of a stored frame that decides whether it waits. */
type Row = Pick<
  WaitingFrame,
  'position' | 'seq' | 'convId' | 'unlistedSince' | 'isRetraction' | 'withheldFrom' | 'firstOfVersion3'
>

/** A conversation of which messages are withheld. Its retractions go. */
interface Withheld {
  /** Everything up to here has been sent, or is not this conversation's. */
  readonly afterSeq: number
}

/** One of which the other account is suspended. */
interface OfSuspended extends Withheld {
  readonly sender: AccountId
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
  readonly #ofSuspended = new Map<ConversationId, OfSuspended>()
  /** Those of which the client cannot read a message, because of its version. */
  readonly #tooNew = new Map<ConversationId, Withheld>()
  /** Conversations of which the reason may have ended, until the store was read again. */
  readonly #lifted = new Set<ConversationId>()
  readonly #ended = new Map<ConversationId, Ended>()
  /** Conversations that a friend list on its way names, and when the client will have read it. */
  readonly #listing = new Map<ConversationId, number>()
  /** Whether the client needs no friend list before messages. */
  #isOff: boolean
  #readsVersion3 = false
  #cancelTimer: (() => void) | undefined
  #timerUntil = Number.POSITIVE_INFINITY

  constructor(parts: HeldParts) {
    this.#parts = parts
    this.#openedAt = parts.clock.monotonic()
    this.#isOff = parts.limits.unlistedSeconds === 0
  }

  /** Whether new frames must not be sent at once, because some might have to wait. */
  blocks(ring: Pick<MailboxRing, 'hasUnlisted' | 'hasVersion3' | 'convIds'>): boolean {
    if (this.#waiting.size > 0 || (ring.hasUnlisted && !this.#isOff)) return true
    if (ring.hasVersion3 !== false && !this.#readsVersion3) return true
    if (this.#ofSuspended.size + this.#tooNew.size === 0) return false
    return ring.convIds.some((convId) => this.#ofSuspended.has(convId) || this.#tooNew.has(convId))
  }

  /** Whether the client reads messages of `crypto_v` 3. */
  get readsVersion3(): boolean {
    return this.#readsVersion3
  }

  /** Whether a frame of the mailbox is passed over for now. */
  skips(row: Row): boolean {
    const isPassed = this.#withholds(row) || this.#holds(row)
    this.#endWhatIsOver(row)
    return isPassed || this.#waiting.has(row.convId)
  }

  /**
   * The conversation whose frames can be sent now, if any, and the `seq` after which they are unsent. To be
   * called between two readings of the store.
   */
  findReleased(): { convId: ConversationId; afterSeq: number } | undefined {
    for (const convId of this.#lifted)
      for (const reason of [this.#ofSuspended, this.#tooNew]) this.#end(reason, convId)
    this.#lifted.clear()
    for (const [convId, { isReleased, afterSeq }] of this.#waiting) {
      if (isReleased) return { convId, afterSeq }
    }
    return undefined
  }

  /**
   * Whether frames of a released conversation, read together, must be read again: the reason has ended for
   * which earlier ones were withheld.
   */
  mustRewind(rows: readonly Row[]): boolean {
    let isOver = false
    for (const row of rows) isOver = this.#endWhatIsOver(row) || isOver
    return isOver
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
    const isWithheld = row.withheldFrom !== undefined || this.#isTooNew(row)
    if (!waiting || (!isWithheld && this.#holds(row))) return false
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

  /**
   * The other account of a conversation is not suspended any more, or has taken back what the client cannot
   * read. What was withheld is read again.
   */
  lifted(convId: ConversationId): void {
    this.#lifted.add(convId)
  }

  /** The conversations of which messages are withheld, each with the suspended account. */
  *withheld(): Iterable<{ readonly convId: ConversationId; readonly sender: AccountId }> {
    for (const [convId, { sender }] of this.#ofSuspended) yield { convId, sender }
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

  /** Whether the client reads messages of `crypto_v` 3. @returns whether frames can be sent now */
  setReadsVersion3(reads: boolean): boolean {
    this.#readsVersion3 = reads
    if (!reads) return false
    for (const convId of [...this.#tooNew.keys()]) this.#end(this.#tooNew, convId)
    return [...this.#waiting.values()].some(({ isReleased }) => isReleased)
  }

  /** The mailbox is read from the start again, which also sends what was released. */
  restart(): void {
    this.#ofSuspended.clear()
    this.#tooNew.clear()
    for (const [convId, waiting] of this.#waiting) {
      if (waiting.isReleased) this.#waiting.delete(convId)
      // What was withheld before is not remembered any more, and may lie before the frames that wait.
      else this.#waiting.set(convId, { ...waiting, afterSeq: 0, afterPosition: 0 })
    }
  }

  close(): void {
    this.#cancelTimer?.()
    this.#waiting.clear()
    this.#ofSuspended.clear()
    this.#tooNew.clear()
  }

  #findReleased(convId: ConversationId, afterSeq: number): Waiting | undefined {
    const waiting = this.#waiting.get(convId)
    return waiting?.isReleased && waiting.afterSeq === afterSeq ? waiting : undefined
  }

  #withholds(row: Row): boolean {
    const { convId, seq, withheldFrom: sender } = row
    const afterOf = (known: Withheld | undefined): number => Math.min(known?.afterSeq ?? seq, seq - 1)
    if (sender !== undefined)
      this.#ofSuspended.set(convId, { sender, afterSeq: afterOf(this.#ofSuspended.get(convId)) })
    const isTooNew = this.#isTooNew(row)
    if (isTooNew) this.#tooNew.set(convId, { afterSeq: afterOf(this.#tooNew.get(convId)) })
    return sender !== undefined || isTooNew
  }

  #isTooNew({ seq, isRetraction, firstOfVersion3: first }: Row): boolean {
    return !this.#readsVersion3 && !isRetraction && first !== undefined && seq >= first
  }

  // A frame of a conversation can show that the reason is over for which others were withheld: its sender is
  // not suspended, or the first one that the client could not read is gone.
  #endWhatIsOver({ convId, isRetraction, withheldFrom, firstOfVersion3: first }: Row): boolean {
    const isLifted = !isRetraction && withheldFrom === undefined && this.#end(this.#ofSuspended, convId)
    const tooNew = this.#tooNew.get(convId)
    const isGone = tooNew !== undefined && (first === undefined || first > tooNew.afterSeq + 1)
    return (isGone && this.#end(this.#tooNew, convId)) || isLifted
  }

  // What was withheld is sent from the store, unless the conversation waits for another reason.
  #end(reason: Map<ConversationId, Withheld>, convId: ConversationId): boolean {
    const withheld = reason.get(convId)
    if (!withheld) return false
    reason.delete(convId)
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
    this.#end(this.#ofSuspended, convId)
    this.#end(this.#tooNew, convId)
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
