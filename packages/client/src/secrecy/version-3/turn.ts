// One step of a conversation while it is made: the state so far, and what came out of it.
import type { RandomBytes } from '@sotto/crypto'
import { type Connection, type Course, type Doubt, presentOf } from './course.ts'
import type { Ask, Handshake, Keep, Notice, Outcome, OwnKeyPackage } from './events.ts'
import { CONTROLS, LOOKS, LOOKS_AGAIN_MS } from './limits.ts'
import type { Sides } from './sides.ts'

/** What a step may use besides the state and the event. */
export interface Surroundings {
  readonly sides: Sides
  /** Milliseconds since 1970, by this device. */
  readonly now: number
  readonly random: RandomBytes
  /** A new message id, unlike every other: a UUID. */
  readonly newId: () => string
  /** The key package of this device with this reference, and its secrets, if they are still here. */
  readonly findKeyPackage: (reference: Uint8Array) => Promise<OwnKeyPackage | undefined>
}

/** Collects the results of one event. */
export class Turn {
  /** Milliseconds since 1970, by this device. */
  readonly now: number
  readonly keep: Keep[] = []
  readonly asks: Ask[] = []
  readonly notices: Notice[] = []
  handshake: Handshake | undefined
  outcome: Outcome = 'handled'
  readonly #around: Surroundings | undefined
  #course: Course

  /** @param around undefined while the contact's keys are unknown or refused */
  constructor(course: Course, now: number, around: Surroundings | undefined) {
    this.#course = course
    this.now = now
    this.#around = around
  }

  /** What the step may use. */
  get around(): Surroundings {
    if (!this.#around) throw new Error('a step without the keys of the contact needs them')
    return this.#around
  }

  get course(): Course {
    return this.#course
  }

  change(changes: Partial<Course>): void {
    this.#course = { ...this.#course, ...changes }
  }

  connect(changes: Partial<Connection>): void {
    this.change({ connection: { ...this.#course.connection, ...changes } })
  }

  /** The present group must not be used to send, until this device has joined again. */
  doubt(why: Exclude<Doubt['why'], 'behind'>): void {
    const { doubt } = this.#course
    if (!doubt || doubt.why === 'behind') this.change({ doubt: { why } })
  }

  tell(notice: Notice): void {
    this.notices.push(notice)
  }

  /**
   * Asks the relay, unless an answer is awaited or this connection has looked too often without getting on.
   */
  look(asked: 'sync' | 'group' | 'key_packages'): void {
    const { connection } = this.#course
    if (connection.asked !== undefined) return
    const isOver = Math.abs(this.now - connection.looksSince) >= LOOKS_AGAIN_MS
    const looks = isOver ? 0 : connection.looks
    if (looks >= LOOKS) return
    this.connect({
      ...{ asked, askedIn: presentOf(this.#course)?.epoch, looks: looks + 1 },
      looksSince: looks === 0 ? this.now : connection.looksSince,
      // The answer brings the left frames again.
      hasLeft: connection.hasLeft && asked !== 'sync',
    })
    this.asks.push({ ask: asked })
  }

  /** Remembers a received frame that leaves nothing in the history. */
  noteControl(seq: number): void {
    this.change({ controls: [...this.#course.controls, seq].slice(-CONTROLS) })
  }

  /** Leaves a frame for the next `sync`. */
  leave(): void {
    this.outcome = 'later'
    this.connect({ hasLeft: true })
  }
}
