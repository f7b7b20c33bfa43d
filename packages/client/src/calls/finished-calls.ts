// Calls that are over: a signal of theirs that comes late begins none of them anew.
import type { Clock } from '../options.ts'

/** How long the id of a call that is over is known, in milliseconds: longer than any signal of it may be under way. */
const REMEMBER_MS = 300_000

/** The ids of calls that are over, for as long as they matter. */
export class FinishedCalls {
  readonly #clock: Clock
  /** The oldest first. */
  readonly #finishedAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(id: string): void {
    this.#forget()
    this.#finishedAt.set(id, this.#clock.now())
  }

  has(id: string): boolean {
    this.#forget()
    return this.#finishedAt.has(id)
  }

  #forget(): void {
    const now = this.#clock.now()
    for (const [id, at] of this.#finishedAt) if (now - at > REMEMBER_MS) this.#finishedAt.delete(id)
  }
}
