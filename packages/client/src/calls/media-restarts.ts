// Which way for a call's media the two sides talk about, when the one there was breaks: they are counted from 1.
import type { Clock } from '../options.ts'

/** For this long after one was offered no other is, in milliseconds: both sides may wish for it at once. */
const PAUSE_MS = 2000

/** The restarts of one call's media. Only who has called offers one, so that two offers never meet. */
export class MediaRestarts {
  readonly #clock: Clock
  #latest = 0
  #isAnswered = true
  #isPaused = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of another to offer, or undefined where one was offered a moment ago. */
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

  /** Whether this offer of the other side is new. */
  takeOffer(restart: number): boolean {
    if (restart <= this.#latest) return false
    this.#latest = restart
    return true
  }

  /** Whether this is the answer that is waited for: of the latest offer, the first. */
  takeAnswer(restart: number): boolean {
    if (restart !== this.#latest || this.#isAnswered) return false
    this.#isAnswered = true
    return true
  }

  /** Whether no other has taken its place. */
  isLatest(restart: number): boolean {
    return restart === this.#latest
  }
}
