// Numbers the restarts of a call's media connection from 1, so that both sides know which restart a
// description is for.
import type { Clock } from '../platform/platform.ts'

/**
 * The minimum time between two offered restarts, in milliseconds: both sides may notice the break at the same
 * time.
 */
const PAUSE_MS = 2000

/** The restarts of one call's media connection. Only the caller offers them, so two offers never cross. */
export class MediaRestarts {
  readonly #clock: Clock
  #latest = 0
  #isAnswered = true
  #isPaused = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of a new restart to offer; undefined if one was offered a moment ago. */
  begin(): number | undefined {
    if (this.#isPaused) return undefined
    this.#isPaused = true
    this.#clock.after(PAUSE_MS, () => {
      this.#isPaused = false
    })
    this.#isAnswered = false
    this.#latest += 1
    return this.#latest
  }

  /** Records an offer of the other side. @returns whether it is new */
  takeOffer(restart: number): boolean {
    if (restart <= this.#latest) return false
    this.#latest = restart
    return true
  }

  /** Records an answer. @returns whether it is the first answer to the latest offer */
  takeAnswer(restart: number): boolean {
    if (restart !== this.#latest || this.#isAnswered) return false
    this.#isAnswered = true
    return true
  }

  /** Whether there is no later restart. */
  isLatest(restart: number): boolean {
    return restart === this.#latest
  }
}
