// Time. It is passed to every part, so that tests control it. Only this file reads the machine's clock.

/** The clock that the relay's parts read. */
export interface Clock {
  /** Milliseconds since 1970; may jump when somebody sets the clock. */
  now(): number
  /** Milliseconds since an arbitrary start; never jumps. */
  monotonic(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
