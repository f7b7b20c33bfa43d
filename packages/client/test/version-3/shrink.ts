// Makes a failing schedule smaller: leaves out steps as long as the same kind of promise is broken.

import { runSchedule } from './model.ts'
import type { Schedule } from './schedule.ts'
import type { Account } from './store.ts'

/** Runs at most so many smaller schedules. */
const MOST_TRIES = 400

/** The smallest schedule that was found to break the first of these promises. */
export async function smallest(
  accounts: readonly [Account, Account],
  schedule: Schedule,
  broken: readonly string[],
): Promise<Schedule> {
  const kind = kindOf(broken[0] ?? '')
  let best = schedule
  let tries = 0
  for (let size = Math.floor(best.actions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.actions.length && tries < MOST_TRIES; ) {
      const actions = [...best.actions.slice(0, at), ...best.actions.slice(at + size)]
      const smaller = { ...best, actions }
      tries += 1
      const verdict = await runSchedule(accounts, smaller)
      if (verdict.broken.some((each) => kindOf(each) === kind)) best = smaller
      else at += size
    }
  }
  return best
}

/** What is broken, without the names of messages and devices. */
function kindOf(broken: string): string {
  return broken.replaceAll(/[abm]?\d+/g, '').slice(0, 20)
}
