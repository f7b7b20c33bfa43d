// A clock that shortens the client's pauses. It is for tests that check what follows a pause, not its length.
// Test pages in browsers use it too.
import type { ClientOptions } from '../src/client.ts'
import { systemClock } from '../src/platform/clock.ts'

/**
 * A longer wait is a time-out. The clock does not shorten time-outs, because a busy machine would reach them.
 */
const LONGEST_PAUSE_MS = 4000

/** Client options that shorten pauses to milliseconds. Time-outs keep their length. */
export const briefPauses = {
  clock: {
    now: systemClock.now,
    after: (ms, run) => systemClock.after(ms > LONGEST_PAUSE_MS ? ms : ms / 50, run),
  },
  // The client draws four random bytes to choose the length of a pause, and more than four for keys and ids.
  // With these four bytes, each pause lasts a sixteenth of its maximum.
  random: (length) =>
    length === 4 ? new Uint8Array(length).fill(16) : crypto.getRandomValues(new Uint8Array(length)),
} satisfies Pick<ClientOptions, 'clock' | 'random'>
