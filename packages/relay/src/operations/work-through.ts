// Work on one thing after the other, where one that fails must not keep the others.

/** After so many failures, what all of them need is taken to be away. */
const MOST_FAILURES = 3

/**
 * Does something with each. `onFailure` tells the log; what failed stays for the next round.
 * @returns the one at which it was given up; a round that goes on behind it comes to what lies behind any number of failures
 */
export async function workThrough<T>(
  things: Iterable<T>,
  work: (thing: T) => Promise<unknown>,
  { onFailure, signal }: { onFailure: (error: unknown) => void; signal?: AbortSignal },
): Promise<T | undefined> {
  let failures = 0
  for (const thing of things) {
    if (signal?.aborted) return undefined
    try {
      await work(thing)
    } catch (error) {
      onFailure(error)
      failures += 1
      if (failures === MOST_FAILURES) return thing
    }
  }
  return undefined
}
