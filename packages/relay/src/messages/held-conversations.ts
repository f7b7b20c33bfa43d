// The conversations of one connection whose first messages wait. Older clients cannot decrypt a message of a
// conversation that they have not seen in their friend list: they drop it, and their next `delivered`, which
// is cumulative, erases it. So the messages wait until the friend list has named the conversation, or at most
// for a while (protocol, Delivery 5).
import type { ConversationId, Limits } from '@sotto/protocol'
import type { After } from '../operations/after.ts'
import type { Clock } from '../operations/clock.ts'
import type { WaitingFrame } from './mailbox-reader.ts'

/** The part of a stored frame that decides whether it waits. */
type Row = Pick<WaitingFrame, 'position' | 'seq' | 'convId' | 'unlistedSince'>

/** A conversation of which stored frames were passed over. */
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
  blocks({ hasUnlisted }: { hasUnlisted: boolean }): boolean {
    return this.#waiting.size > 0 || (hasUnlisted && !this.#isOff)
  }

  /** Whether a frame of the mailbox is passed over for now. */
  skips(row: Row): boolean {
    return this.#holds(row) || this.#waiting.has(row.convId)
  }

  /** The conversation whose frames can be sent now, if any, and the `seq` after which they are unsent. */
  findReleased(): { convId: ConversationId; afterSeq: number } | undefined {
    for (const [convId, { isReleased, afterSeq }] of this.#waiting) {
      if (isReleased) return { convId, afterSeq }
    }
    return undefined
  }

  /** A frame of a released conversation is sent. */
  releasedIsSent({ convId, seq, position }: Row): void {
    const waiting = this.#waiting.get(convId)
    if (waiting) this.#waiting.set(convId, { ...waiting, afterSeq: seq, afterPosition: position })
  }

  /** All frames of a released conversation were sent that the mailbox's reading has passed. */
  allReleasedIsSent(convId: ConversationId): void {
    if (this.#waiting.get(convId)?.isReleased) this.#waiting.delete(convId)
  }

  /** All frames of a mailbox up to this position were sent, if it was read so far. */
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
      if (ended?.isByTime)
        this.#waiting.set(convId, { since, until: 0, isReleased: true, afterSeq: 0, afterPosition: 0 })
      else this.#release(convId)
      hasAny ||= this.#waiting.has(convId)
    }
    return hasAny
  }

  /** All frames of a conversation that the mailbox’s reading has passed go again, unless they wait. */
  sendAgain(convId: ConversationId): void {
    if (!this.#waiting.has(convId))
      this.#waiting.set(convId, { since: 0, until: 0, isReleased: true, afterSeq: 0, afterPosition: 0 })
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
    for (const [convId, { isReleased }] of this.#waiting) if (isReleased) this.#waiting.delete(convId)
  }

  close(): void {
    this.#cancelTimer?.()
    this.#waiting.clear()
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
    if (!waiting) return false
    this.#waiting.set(convId, { ...waiting, isReleased: true })
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
