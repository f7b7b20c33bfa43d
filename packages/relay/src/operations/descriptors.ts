// How many files and connections the process may have open, and how many it has.
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** Assumed where the system does not tell. */
const USUAL_LIMIT = 10_240

/** The most file descriptors that the process may have open (`ulimit -n`). */
export function readDescriptorLimit(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8')
    const soft = /^Max open files +(?<soft>\d+|unlimited)/m.exec(text)?.groups?.soft
    return soft === undefined || soft === 'unlimited' ? USUAL_LIMIT : Number(soft)
  } catch {
    return USUAL_LIMIT
  }
}

/**
 * How many file descriptors the process has open: about its connections and its files.
 * @param limit the answer if the system cannot tell, because none is left to ask with
 */
export function countDescriptors(limit: number): number {
  try {
    // Linux 6.2 and later give the number without a list of them.
    const counted = process.platform === 'linux' ? statSync('/proc/self/fd').size : 0
    return counted > 0 ? counted : readdirSync('/dev/fd').length
  } catch {
    return limit
  }
}
