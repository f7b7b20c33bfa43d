// How long a pattern of the price list takes: one that backtracks without end would hold up every search of the shop.
import type { Clock } from '../operations/clock.ts'

/** A pattern that takes longer than this for one id is refused. Sound ones take a few microseconds. */
const MOST_MS = 20
/** How often it has to be in a row: the machine interrupts whoever it likes, and stops nobody so often. */
const TIMES_SLOW = 5
const LONGEST_ID = 32
/** What patterns stumble over: a long run that almost fits. */
const RUNS = ['a', '0', '_', 'ab', 'a0', 'a_', 'az', 'aab']

/**
 * Whether a pattern is quick on ids of every length. Tried on ever longer ones, so that one whose time doubles with each
 * character is found out long before it takes for ever.
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
  for (let times = 0; times < TIMES_SLOW; times++) {
    const since = clock.monotonic()
    pattern.test(id)
    if (clock.monotonic() - since <= MOST_MS) return false
  }
  return true
}
