// What the clients of one schedule have in common: waiting for something to become true, and the relay's
// eras.

/** Lets a schedule wait until something is true, without asking again and again. */
export class Moments {
  #waiting: (() => void)[] = []
  readonly #look: () => void

  /** @param look is called at every change */
  constructor(look: () => void) {
    this.#look = look
  }

  /** Something changed: those who wait look again. */
  changed(): void {
    this.#look()
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Waits until this is true. @returns false if it is not true after this time */
  async until(isTrue: () => boolean, withinMs: number): Promise<boolean> {
    for (const late = performance.now() + withinMs; !isTrue(); ) {
      const left = late - performance.now()
      if (left <= 0) return false
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return true
  }
}

/**
 * The times between two jumps of the relay's clock. A message or retraction expires only in a later era than
 * its own.
 */
export interface Eras {
  /** How many times the clock was moved ahead so far. */
  readonly count: number
  /** A schedule has ended. */
  ended(): void
  /** A client lost its connection and connects again: this settles when it has returned or gave up. */
  returns(returned: Promise<void>): void
  /** While this runs, the clock is not moved and the relay is not killed. */
  inPeace<T>(work: () => Promise<T>): Promise<T>
}

/** The eras of a relay that is left alone. */
export const ONE_ERA: Eras = {
  count: 0,
  ended: () => undefined,
  returns: () => undefined,
  inPeace: (work) => work(),
}

/** Tries this until it works: the relay is killed and started again while the schedules run. */
export async function untilItWorks<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  let cause: unknown
  for (const late = performance.now() + 90_000; performance.now() < late; await Bun.sleep(50)) {
    try {
      const result = await attempt()
      if (result !== undefined) return result
    } catch (error) {
      cause = error
    }
  }
  throw new Error('the relay did not answer as expected for 90 s', { cause })
}
