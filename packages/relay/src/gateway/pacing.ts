// Frames that come faster than their rate wait in order; nothing is refused, since published clients ignore `error`
// (protocol, Delivery 8).
import type { ClientFrame, RateName, Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { TokenBucket } from '../operations/token-bucket.ts'

type PaceName = Extract<RateName, 'message' | 'frame' | 'sync' | 'call' | 'atOnce'>

/** The rates of one account, which outlive its connections. */
export class AccountPace {
  readonly #rates: Rates
  readonly #clock: Clock
  readonly #buckets: Partial<Record<PaceName, TokenBucket>> = {}

  constructor(rates: Rates, clock: Clock) {
    this.#rates = rates
    this.#clock = clock
  }

  /** Milliseconds until a frame of this type may be carried out; 0 takes its place at once. */
  delayMs(type: ClientFrame['type']): number {
    return this.#take(paceOf(type))
  }

  /**
   * Counts what is answered on arrival and waits for nothing: pings, and frames that are refused.
   * @returns false where they come faster than they may
   */
  allowsAtOnce(): boolean {
    return this.#take('atOnce') === 0
  }

  /** True where forgetting it would change nothing. */
  isFresh(): boolean {
    const now = this.#clock.monotonic()
    return Object.values(this.#buckets).every((bucket) => bucket.isFull(now))
  }

  #take(name: PaceName): number {
    if (!this.#rates) return 0
    const now = this.#clock.monotonic()
    const bucket = this.#buckets[name] ?? new TokenBucket(this.#rates[name], now)
    this.#buckets[name] = bucket
    return bucket.take(now)
  }
}

function paceOf(type: ClientFrame['type']): PaceName {
  if (type === 'msg' || type === 'retract') return 'message'
  if (type === 'sync') return 'sync'
  return type.startsWith('call_') ? 'call' : 'frame'
}

interface Paced {
  readonly type: ClientFrame['type']
}

interface Held<Frame> {
  readonly frame: Frame
  readonly bytes: number
}

// What a frame costs in memory beside its text.
const FRAME_OVERHEAD_BYTES = 512

/** The frames of one connection, or those of its calls, carried out in the order they came. */
export class PacedFrames<Frame extends Paced> {
  readonly #pace: AccountPace
  readonly #carryOut: (frame: Frame) => void
  readonly #heldBytesLimit: number
  #waiting: Held<Frame>[] | undefined
  #next = 0
  #heldBytes = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(pace: AccountPace, heldBytesLimit: number, carryOut: (frame: Frame) => void) {
    this.#pace = pace
    this.#heldBytesLimit = heldBytesLimit
    this.#carryOut = carryOut
  }

  /** Carries a frame out, now or when its time comes. @returns false where too much is waiting already. */
  push(frame: Frame, characters: number): boolean {
    if (!this.#waiting) {
      const delay = this.#pace.delayMs(frame.type)
      if (delay === 0) {
        this.#carryOut(frame)
        return true
      }
      this.#waiting = []
      this.#wait(delay)
    }
    const bytes = characters + FRAME_OVERHEAD_BYTES
    if (this.#heldBytes + bytes > this.#heldBytesLimit) return false
    this.#waiting.push({ frame, bytes })
    this.#heldBytes += bytes
    return true
  }

  /** Counts what is answered on arrival. @returns false where it comes too fast */
  allowsAtOnce(): boolean {
    return this.#pace.allowsAtOnce()
  }

  /** Drops what waits: it was never acknowledged, so its sender will send it again. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#waiting = undefined
    this.#next = 0
    this.#heldBytes = 0
  }

  #wait(delay: number): void {
    this.#timer = setTimeout(() => this.#release(), delay)
  }

  #release(): void {
    const waiting = this.#waiting ?? []
    for (let held = waiting[this.#next]; held; held = waiting[this.#next]) {
      const delay = this.#pace.delayMs(held.frame.type)
      if (delay > 0) {
        this.#wait(delay)
        return
      }
      this.#next += 1
      this.#heldBytes -= held.bytes
      this.#carryOut(held.frame)
    }
    this.#waiting = undefined
    this.#next = 0
  }
}
