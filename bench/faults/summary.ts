// What a run comes to, over all of its rounds.
import { join } from 'node:path'
import { machine } from '../measure.ts'
import type { Deed } from './nemesis.ts'
import type { RoundResult } from './round.ts'
import type { Engine } from './target.ts'

/** What is counted of the clients, and the events that are counted for it. */
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
    console.log(`in all: ${this.rounds} rounds, ${this.minutes} minutes, ${this.kills} kills`)
    console.log(`  done: ${listed(this.deeds)}; ${this.cutsThatTook} power cuts found something unsynced`)
    console.log(`  ${listed(this.counts)}`)
    console.log(this.violations === 0 ? '  every promise kept' : `  BROKEN: ${this.violations} times`)
  }

  /** Writes it beside the figures of the benchmarks. */
  async save(name: 'faults' | 'kills', settings: { seed: number; engine: Engine }): Promise<void> {
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

/** What people want to know of a round, by name. */
export function countsOf({ counts }: RoundResult): Record<string, number> {
  const sum = (names: readonly string[]): number => names.reduce((all, name) => all + (counts[name] ?? 0), 0)
  return Object.fromEntries(Object.entries(COUNTED).map(([name, events]) => [name, sum(events)]))
}

/** Counts, as a line. */
export function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function addTo(sums: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
}
