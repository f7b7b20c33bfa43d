// Work on one thing after the other, where one that fails must not keep the others.
import type { Log } from './log.ts'

/** After so many failures, what all of them need is taken to be away. */
const MOST_FAILURES = 3

/**
 * Does something with each. What fails is logged as `event` and stays for the next round.
 * @returns the one at which it was given up; a round that goes on behind it comes to what lies behind any number of failures
 */
export async function workThrough<T>(
  things: Iterable<T>,
  work: (thing: T) => Promise<unknown>,
  { log, event, signal }: { log: Log; event: string; signal?: AbortSignal },
): Promise<T | undefined> {
  let failures = 0
  for (const thing of things) {
    if (signal?.aborted) return undefined
    try {
      await work(thing)
    } catch (error) {
      log.error(event, { error })
      failures += 1
      if (failures === MOST_FAILURES) return thing
    }
  }
  return undefined
}
