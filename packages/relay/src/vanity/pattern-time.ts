// Measures how long a pattern of the price list takes. A pattern with catastrophic backtracking would block
// every search of the shop.
import type { Clock } from '../operations/clock.ts'

/** A pattern that takes longer than this for one id is refused. Sound ones take a few microseconds. */
const MOST_MS = 20
/**
 * A pattern is slow only if it is slow this many times in a row: a busy machine can make a single run slow.
 */
const SLOW_RUNS = 5
const LONGEST_ID = 32
/** Bad cases for backtracking: long runs that almost match. */
const RUNS = ['a', '0', '_', 'ab', 'a0', 'a_', 'az', 'aab']

/**
 * Whether a pattern is fast on ids of every length. Short ids are tried first, so that a pattern whose time
 * doubles with each character is found while it still takes little time.
 */
export function isQuick(pattern: RegExp, clock: Clock): boolean {
  for (let length = 3; length <= LONGEST_ID; length++) {
    for (const run of RUNS) {
      const id = run.repeat(LONGEST_ID).slice(0, length - 1)
      for (const last of ['', '_', '0', 'z']) {
        if (isSlowOn(id + last, pattern, clock)) return false
      }
    }
  }
  return true
}

function isSlowOn(id: string, pattern: RegExp, clock: Clock): boolean {
  for (let times = 0; times < SLOW_RUNS; times++) {
    const since = clock.monotonic()
    pattern.test(id)
    if (clock.monotonic() - since <= MOST_MS) return false
  }
  return true
}
