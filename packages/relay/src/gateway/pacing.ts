// Frames that come faster than their rate wait in order; nothing is refused, since published clients ignore `error`
// (protocol, Delivery 8).
import type { ClientFrame, Rates } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { TokenBucket } from '../operations/token-bucket.ts'

interface Waiting {
  readonly frame: ClientFrame
  readonly bytes: number
}

/** The rates of one account, which outlive its connections. */
export class AccountPace {
  readonly #rates: Rates
  readonly #clock: Clock
  #message: TokenBucket | undefined
  #other: TokenBucket | undefined

  constructor(rates: Rates, clock: Clock) {
    this.#rates = rates
    this.#clock = clock
  }

  /** Milliseconds until a frame of this type may be carried out; 0 takes its place at once. */
  delayMs(type: ClientFrame['type']): number {
    if (!this.#rates) return 0
    const isMessage = type === 'msg' || type === 'retract'
    if (isMessage) this.#message ??= new TokenBucket(this.#rates.message, this.#clock.monotonic())
    else this.#other ??= new TokenBucket(this.#rates.frame, this.#clock.monotonic())
    return (isMessage ? this.#message : this.#other)?.take(this.#clock.monotonic()) ?? 0
  }

  /** True where forgetting it would change nothing. */
  isFresh(): boolean {
    const now = this.#clock.monotonic()
    return [this.#message, this.#other].every((bucket) => bucket === undefined || bucket.isFull(now))
  }
}

/** The frames of one connection, carried out in the order they came. */
export class PacedFrames {
  readonly #pace: AccountPace
  readonly #carryOut: (frame: ClientFrame) => void
  readonly #heldBytesLimit: number
  #waiting: Waiting[] | undefined
  #heldBytes = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(pace: AccountPace, heldBytesLimit: number, carryOut: (frame: ClientFrame) => void) {
    this.#pace = pace
    this.#heldBytesLimit = heldBytesLimit
    this.#carryOut = carryOut
  }

  /** Carries a frame out, now or when its time comes. @returns false where too much is waiting already. */
  push(frame: ClientFrame, bytes: number): boolean {
    if (!this.#waiting) {
      const delay = this.#pace.delayMs(frame.type)
      if (delay === 0) {
        this.#carryOut(frame)
        return true
      }
      this.#waiting = []
      this.#wait(delay)
    }
    if (this.#heldBytes + bytes > this.#heldBytesLimit) return false
    this.#waiting.push({ frame, bytes })
    this.#heldBytes += bytes
    return true
  }

  /**
   * Counts a frame that is answered on arrival: a `ping`, or one that is refused.
   * @returns false where they come faster than other frames may
   */
  allowsAtOnce(): boolean {
    return this.#pace.delayMs('ping') === 0
  }

  /** Drops what waits: it was never acknowledged, so its sender will send it again. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#waiting = undefined
    this.#heldBytes = 0
  }

  #wait(delay: number): void {
    this.#timer = setTimeout(() => this.#release(), delay)
  }

  #release(): void {
    const waiting = this.#waiting ?? []
    let released = 0
    for (const { frame, bytes } of waiting) {
      const delay = this.#pace.delayMs(frame.type)
      if (delay > 0) {
        this.#waiting = waiting.slice(released)
        this.#wait(delay)
        return
      }
      released += 1
      this.#heldBytes -= bytes
      this.#carryOut(frame)
    }
    this.#waiting = undefined
  }
}
