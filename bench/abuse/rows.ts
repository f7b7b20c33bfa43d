// Makes the row of an attack: what it did, and what bystanders saw, ratios first.

import { ratio } from '../measure.ts'
import type { Seen } from './bystander.ts'
import type { Report } from './scene.ts'

/** What the bystanders of one server saw, and what the attack did to it. */
export interface Phases {
  readonly before: Seen
  readonly during: Seen
  readonly report: Report
  /** How busy the server’s core was during the attack, from 0 to 1. */
  readonly busy: number
}

/** The same, and what they saw after the attack. */
export interface AllPhases extends Phases {
  readonly after: Seen
}

const KINDS = ['ack', 'delivery'] as const
type Kind = (typeof KINDS)[number]

/**
 * The row of one attack. A ratio compares the medians during and before the attack: of `ack` or of delivery,
 * whichever grew more. `less the floor` leaves out the milliseconds by which the same load made the floor
 * slower.
 */
export function rowOf(attack: string, relay: AllPhases, floor: Phases): Record<string, string | number> {
  const worst = (of: (kind: Kind) => number): number => ratio(Math.max(...KINDS.map(of)))
  return {
    attack,
    'less the floor': worst((kind) => {
      const grown = (of: Phases): number => Math.max(0, of.during[kind].p50 - of.before[kind].p50)
      const less = Math.min(grown(relay), grown(floor))
      return (relay.during[kind].p50 - less) / relay.before[kind].p50
    }),
    'p50, during to before': worst((kind) => relay.during[kind].p50 / relay.before[kind].p50),
    'the floor’s': worst((kind) => floor.during[kind].p50 / floor.before[kind].p50),
    refused: relay.before.missing + relay.during.missing + relay.after.missing,
    'CPU %': Math.round(relay.busy * 100),
    'the floor’s CPU %': Math.round(floor.busy * 100),
    reached: reachedOf(relay.report),
    answers: Object.entries(relay.report.statuses)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
    ...timesOf('ack', relay),
    ...timesOf('delivery', relay),
    'floor ack, during': textOf(floor.during, 'ack'),
    messages: relay.before.sent + relay.during.sent + relay.after.sent,
  }
}

function timesOf(kind: Kind, { before, during, after }: AllPhases): Record<string, string> {
  return {
    [`${kind} p50/p99 ms, before`]: textOf(before, kind),
    [`${kind}, during`]: textOf(during, kind),
    [`${kind}, after`]: textOf(after, kind),
  }
}

function textOf(seen: Seen, kind: Kind): string {
  return `${seen[kind].p50.toFixed(2)} / ${seen[kind].p99.toFixed(1)}`
}

/** What the attack sent and received each second. */
function reachedOf({ ms, statuses, frames, connections, sentBytes, receivedBytes }: Report): string {
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  const counts = { requests, frames, connections }
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${Math.ceil((count * 1000) / ms)} ${what}`)
  const mibOf = (bytes: number): string => (bytes / 1_048_576 / (ms / 1000)).toFixed(2)
  return `${parts.join(', ')}, ${mibOf(sentBytes)} MiB up, ${mibOf(receivedBytes)} down`
}
