// A queue in which frames of one connection wait for a rate. They leave it in the order of arrival.

/** What a queue needs to know about its frames. All connections share one. */
export interface Pace<Frame, Owner> {
  /** Counts a frame. @returns 0 if it may leave now; else the milliseconds to wait, and it is not counted */
  take(frame: Frame, owner: Owner): number
  /** The memory that a waiting frame takes. */
  bytesOf(frame: Frame): number
  carryOut(frame: Frame, owner: Owner): void
}

/** Counts the bytes that wait in all queues of a connection. */
export interface QueueOwner {
  /** @returns false if the connection holds too much */
  hold(bytes: number): boolean
  release(bytes: number): void
}

interface Held<Frame> {
  readonly frame: Frame
  readonly bytes: number
}

/** Entries that already left are removed from the queue once there are so many of them. */
const COMPACT_AT = 256

export class PacedFrames<Frame, Owner extends QueueOwner> {
  readonly #pace: Pace<Frame, Owner>
  readonly #owner: Owner
  #waiting: (Held<Frame> | undefined)[] | undefined
  #next = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(pace: Pace<Frame, Owner>, owner: Owner) {
    this.#pace = pace
    this.#owner = owner
  }

  /** Whether frames wait, so that a further one must wait too. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** Carries out a frame, now or when its rate allows it. @returns false if too much waits already */
  push(frame: Frame): boolean {
    if (!this.#waiting) {
      const delay = this.#pace.take(frame, this.#owner)
      if (delay === 0) {
        this.#pace.carryOut(frame, this.#owner)
        return true
      }
      this.#waiting = []
      this.#wait(delay)
    }
    const bytes = this.#pace.bytesOf(frame)
    this.#waiting.push({ frame, bytes })
    return this.#owner.hold(bytes)
  }

  /** Drops the waiting frames. They were not acknowledged, so their sender sends them again. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#waiting = undefined
    this.#next = 0
  }

  #wait(delay: number): void {
    this.#timer = setTimeout(() => this.#leave(), delay)
  }

  #leave(): void {
    const waiting = this.#waiting ?? []
    for (let held = waiting[this.#next]; held; held = waiting[this.#next]) {
      const delay = this.#pace.take(held.frame, this.#owner)
      if (delay > 0) {
        this.#compact(waiting)
        this.#wait(delay)
        return
      }
      waiting[this.#next] = undefined
      this.#next += 1
      this.#owner.release(held.bytes)
      this.#pace.carryOut(held.frame, this.#owner)
      if (this.#waiting !== waiting) return // A frame made the connection close.
    }
    this.#waiting = undefined
    this.#next = 0
  }

  // While frames come as fast as they leave, the queue is never empty.
  #compact(waiting: unknown[]): void {
    if (this.#next < COMPACT_AT) return
    waiting.splice(0, this.#next)
    this.#next = 0
  }
}
