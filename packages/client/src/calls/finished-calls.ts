// Remembers ended calls, so that a late signal does not start one of them again.
import type { Clock } from '../platform/platform.ts'

/**
 * How long the id of an ended call is remembered, in milliseconds: longer than a signal can be in transit.
 */
const REMEMBER_MS = 300_000

/** The ids of recently ended calls. */
export class FinishedCalls {
  readonly #clock: Clock
  /** The oldest first. */
  readonly #finishedAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(id: string): void {
    this.#removeOld()
    this.#finishedAt.set(id, this.#clock.now())
  }

  has(id: string): boolean {
    this.#removeOld()
    return this.#finishedAt.has(id)
  }

  #removeOld(): void {
    const now = this.#clock.now()
    for (const [id, at] of this.#finishedAt) if (now - at > REMEMBER_MS) this.#finishedAt.delete(id)
  }
}
