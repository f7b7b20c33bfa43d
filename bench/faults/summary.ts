// The summary of a run over all its rounds.
import { join } from 'node:path'
import { machine } from '../measure.ts'
import type { BusKind } from './bus.ts'
import type { Deed } from './deeds.ts'
import type { RoundResult } from './round.ts'
import type { Engine } from './target.ts'

/** The counters of client activity, and the events that each one counts. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  connections: ['opening'],
  acknowledged: ['received ack'],
  delivered: ['received msg'],
  retracted: ['received retract_ack'],
  receipts: ['received delivered', 'received read'],
  blocked: ['block done'],
  unblocked: ['unblock done'],
  parted: ['part done'],
  befriended: ['accept done'],
  left: ['leave done'],
  'friend frames': ['received friend_request', 'received friend_accepted'],
  'of unknown outcome': ['ask', 'accept', 'part', 'block', 'unblock', 'leave'].map(
    (what) => `${what} unknown`,
  ),
  'told that they had parted': ['received NOT_FRIENDS'],
  expired: ['received EXPIRED'],
}

export class Summary {
  rounds = 0
  kills = 0
  cutsThatTook = 0
  violations = 0
  readonly deeds: Partial<Record<Deed, number>> = {}
  readonly counts: Record<string, number> = {}
  readonly #startedMs = performance.now()

  add(round: RoundResult): void {
    this.rounds += 1
    this.kills += round.kills
    this.cutsThatTook += round.cutsThatTook
    this.violations += round.violations.length
    addTo(this.deeds, round.deeds)
    addTo(this.counts, countsOf(round))
  }

  get minutes(): number {
    return Math.round((performance.now() - this.#startedMs) / 6000) / 10
  }

  tell(): void {
    console.log(`total: ${this.rounds} rounds, ${this.minutes} minutes, ${this.kills} kills`)
    console.log(`  done: ${listed(this.deeds)}; ${this.cutsThatTook} power cuts found unsynced data`)
    console.log(`  ${listed(this.counts)}`)
    console.log(this.violations === 0 ? '  every promise kept' : `  BROKEN: ${this.violations} times`)
  }

  /** Writes the summary beside the benchmark results. */
  async save(
    name: 'faults' | 'faults-cluster' | 'kills',
    settings: { seed: number; engine: Engine; nodes: number; bus?: BusKind | 'by seed' },
  ): Promise<void> {
    const { minutes, rounds, kills, cutsThatTook, deeds, counts, violations } = this
    const at = new Date().toISOString()
    const all = {
      name,
      at,
      machine: machine(),
      ...settings,
      minutes,
      rounds,
      kills,
      cutsThatTook,
      deeds,
      counts,
      violations,
    }
    const file = join(import.meta.dir, '../results', `${name}.json`)
    await Bun.write(file, `${JSON.stringify(all, null, 2)}\n`)
    console.log(`  written to ${file}`)
  }
}

/** The figures of a round by name. */
export function countsOf({ counts }: RoundResult): Record<string, number> {
  const sum = (names: readonly string[]): number => names.reduce((all, name) => all + (counts[name] ?? 0), 0)
  return Object.fromEntries(Object.entries(COUNTED).map(([name, events]) => [name, sum(events)]))
}

/** Counts as one line. */
export function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function addTo(sums: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
}
