// Time, as the client uses it.

/** The clock that the client uses. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `run` once after `ms`. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void
}

/** The clock of the runtime. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * Resolves after `ms`, or at once when the signal is aborted. A caller with a signal checks it afterwards.
 */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}
