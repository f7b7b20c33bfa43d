// Time, passed in everywhere so that tests own it. The only place that asks the machine what time it is.

/** Where the relay's parts take time from. */
export interface Clock {
  /** Milliseconds since 1970; may jump when somebody sets the clock. */
  now(): number
  /** Milliseconds since some start; never jumps. */
  monotonic(): number
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
