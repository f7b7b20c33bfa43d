// Counts the frames of an account against its rates. Frames that exceed a rate wait in order
// (paced-frames.ts). None is refused, because published clients ignore `error` (protocol, Delivery 8).
import type { ClientFrame, RateName, Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { TokenBucket } from '../operations/token-bucket.ts'

type FrameRateName = Extract<
  RateName,
  'message' | 'frame' | 'sync' | 'call' | 'atOnce' | 'frameBytes' | 'callBytes'
>

/** How much one account has used of its rates. Kept when its connection closes. */
export class AccountRates {
  readonly #rates: Rates
  readonly #clock: Clock
  readonly #reached: (name: RateName) => void
  readonly #buckets: Partial<Record<FrameRateName, TokenBucket>> = {}

  /** @param reached called with the name of each rate that was reached */
  constructor(rates: Rates, clock: Clock, reached: (name: RateName) => void) {
    this.#reached = reached
    this.#rates = rates
    this.#clock = clock
  }

  /**
   * Counts the bytes of a frame of any type, before it is parsed. @returns 0 if it may be parsed now; else
   * the milliseconds to wait, and they are not counted
   */
  takeBytes(data: string | Buffer): number {
    return this.#rates ? this.#takeFrom('frameBytes', this.#rates, Buffer.byteLength(data)) : 0
  }

  /**
   * Counts a frame of this type. @returns 0 if it may run now; else the milliseconds to wait, and it is not
   * counted
   */
  take(type: ClientFrame['type']): number {
    return this.#rates ? this.#takeFrom(rateOf(type), this.#rates, 1) : 0
  }

  /** Counts a call frame and its bytes. @returns the same as {@link take} */
  takeCall(text: string): number {
    if (!this.#rates) return 0
    const now = this.#clock.monotonic()
    const count = this.#bucketOf('call', this.#rates, now)
    const bytes = this.#bucketOf('callBytes', this.#rates, now)
    const size = Buffer.byteLength(text)
    const countWaitMs = count.waitMs(now)
    const waitMs = Math.max(countWaitMs, bytes.waitMs(now, size))
    if (waitMs > 0) {
      this.#reached(countWaitMs > 0 ? 'call' : 'callBytes')
      return waitMs
    }
    count.take(now)
    return bytes.take(now, size)
  }

  /**
   * Counts frames that never wait: pings, pongs and refused frames.
   * @returns false if they exceed their rate
   */
  allowsAtOnce(): boolean {
    return !this.#rates || this.#takeFrom('atOnce', this.#rates, 1) === 0
  }

  /** Whether all rates are unused, so that this object can be dropped. */
  isFresh(): boolean {
    const now = this.#clock.monotonic()
    return Object.values(this.#buckets).every((bucket) => bucket.isFull(now))
  }

  #takeFrom(name: FrameRateName, rates: NonNullable<Rates>, count: number): number {
    const now = this.#clock.monotonic()
    const waitMs = this.#bucketOf(name, rates, now).take(now, count)
    if (waitMs > 0) this.#reached(name)
    return waitMs
  }

  #bucketOf(name: FrameRateName, rates: NonNullable<Rates>, now: number): TokenBucket {
    const bucket = this.#buckets[name] ?? new TokenBucket(rates[name], now)
    this.#buckets[name] = bucket
    return bucket
  }
}

function rateOf(type: ClientFrame['type']): FrameRateName {
  if (type === 'msg' || type === 'retract') return 'message'
  return type === 'sync' ? 'sync' : 'frame'
}
