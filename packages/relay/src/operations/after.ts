// Timers, so that tests of timed code decide when they end.

/** Runs a function after some milliseconds. @returns a function that cancels it */
export type After = (ms: number, run: () => void) => () => void

/** The timers of the process. They do not keep it running. */
export const systemAfter: After = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
