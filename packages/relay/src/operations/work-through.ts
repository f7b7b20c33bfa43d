// Works on many things, one at a time, so that a failed one does not stop the others.

import { TurnOver } from './turns.ts'

/** After this many failures, something that all of them need is assumed to be unavailable. */
const MOST_FAILURES = 3

/**
 * Calls `work` for each thing. A failure is passed to `onFailure`, and its thing is left for a later pass.
 * @returns the thing at which too many had failed, if so. The next pass can start after it, so that things
 *   behind any number of failures are reached
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
      if (error instanceof TurnOver) return undefined // The lease has said so.
      onFailure(error)
      failures += 1
      if (failures === MOST_FAILURES) return thing
    }
  }
  return undefined
}
