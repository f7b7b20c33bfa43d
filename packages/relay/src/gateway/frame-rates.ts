// Enforces the rates of frames. Frames that exceed a rate wait in order. None is refused, because published
// clients ignore `error` (protocol, Delivery 8).
import type { ClientFrame, RateName, Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { TokenBucket } from '../operations/token-bucket.ts'

type FrameRateName = Extract<RateName, 'message' | 'frame' | 'sync' | 'call' | 'atOnce'>

/** How much one account has used of its rates. Kept when its connection closes. */
export class AccountRates {
  readonly #rates: Rates
  readonly #clock: Clock
  readonly #buckets: Partial<Record<FrameRateName, TokenBucket>> = {}

  constructor(rates: Rates, clock: Clock) {
    this.#rates = rates
    this.#clock = clock
  }

  /**
   * Counts a frame of this type. @returns 0 if it may run now; else the milliseconds to wait, and it is not
   * counted
   */
  take(type: ClientFrame['type']): number {
    return this.#takeFrom(rateOf(type))
  }

  /**
   * Counts frames that are answered at once: pings and refused frames.
   * @returns false if they exceed their rate
   */
  allowsAtOnce(): boolean {
    return this.#takeFrom('atOnce') === 0
  }

  /** Whether all rates are unused, so that this object can be dropped. */
  isFresh(): boolean {
    const now = this.#clock.monotonic()
    return Object.values(this.#buckets).every((bucket) => bucket.isFull(now))
  }

  #takeFrom(name: FrameRateName): number {
    if (!this.#rates) return 0
    const now = this.#clock.monotonic()
    const bucket = this.#buckets[name] ?? new TokenBucket(this.#rates[name], now)
    this.#buckets[name] = bucket
    return bucket.take(now)
  }
}

function rateOf(type: ClientFrame['type']): FrameRateName {
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

// The memory that a frame takes in addition to its text.
const FRAME_OVERHEAD_BYTES = 512

/**
 * A queue for the frames of one connection, or for its call frames. Carries them out in the order of arrival.
 */
export class PacedFrames<Frame extends Paced> {
  readonly #rates: AccountRates
  readonly #carryOut: (frame: Frame) => void
  readonly #heldBytesLimit: number
  #waiting: Held<Frame>[] | undefined
  #next = 0
  #heldBytes = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(rates: AccountRates, heldBytesLimit: number, carryOut: (frame: Frame) => void) {
    this.#rates = rates
    this.#heldBytesLimit = heldBytesLimit
    this.#carryOut = carryOut
  }

  /** Carries out a frame, now or when its rate allows it. @returns false if too many bytes wait already */
  push(frame: Frame, characters: number): boolean {
    if (!this.#waiting) {
      const delay = this.#rates.take(frame.type)
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

  /** Counts a frame that is answered at once. @returns false if such frames exceed their rate */
  allowsAtOnce(): boolean {
    return this.#rates.allowsAtOnce()
  }

  /** Drops the waiting frames. They were not acknowledged, so their sender sends them again. */
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
      const delay = this.#rates.take(held.frame.type)
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
