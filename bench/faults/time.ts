// Time that passes at once: what may expire because of it, and what must.
import { hasMessagesBefore } from './database.ts'
import type { History } from './history.ts'
import { MESSAGE_LIFE_MS, type Target } from './target.ts'

export const HOUR_MS = 3_600_000
/** Longer than a message's life. */
export const DAY_MS = MESSAGE_LIFE_MS + HOUR_MS
/** Longer than the interval between two expiry passes of the relay. */
export const ROUND_MS = 61_000
/** An expiry pass is complete within this time. */
const WITHIN_MS = 30_000
/** A node takes a lease and sweeps within this time, also on a busy machine. */
const MOST_WAIT_MS = 120_000

/** From now on, the relay may erase messages that are older than a message's life by its clock. */
export function noteOld({ target, history }: { target: Target; history: History }, afterMs = 0): void {
  const before = Math.max(...clocksOf(target)) + afterMs + WITHIN_MS - MESSAGE_LIFE_MS
  history.add({ type: 'old', before })
}

/**
 * Has all nodes that share a PostgreSQL do what they do every minute, until the one that has the turn has let
 * old messages expire.
 * @returns whether they expired in time
 */
export async function untilExpired(target: Target): Promise<boolean> {
  const url = target.env.DATABASE_URL ?? ''
  const before = Math.min(...clocksOf(target)) - MESSAGE_LIFE_MS
  const late = performance.now() + MOST_WAIT_MS
  while (await hasMessagesBefore(url, before)) {
    if (performance.now() > late) return false
    await Promise.all(target.nodes.map(({ relay }) => relay.maintain()))
    await Bun.sleep(100)
  }
  return true
}

function clocksOf({ nodes }: Target): number[] {
  return nodes.map(({ disk }) => disk?.clockMs ?? 0)
}
