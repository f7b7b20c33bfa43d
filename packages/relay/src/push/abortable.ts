// Stops waiting for work that has no way to be cancelled.

/**
 * Resolves like `work`, or rejects when the signal is aborted first. The work itself continues; its result is
 * then ignored.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
