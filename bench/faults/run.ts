// Runs rounds, each with a new relay, clients and seed, until the time is up or the relay was killed often
// enough.
import type { startRelay } from '@sotto/relay/testing'
import { type BusKind, busOf } from './bus.ts'
import type { Deed } from './deeds.ts'
import type { Violation } from './facts.ts'
import { type RoundResult, runRound } from './round.ts'
import { countsOf, listed, Summary } from './summary.ts'
import type { Engine } from './target.ts'

/** Longer rounds would only make the histories longer. */
const ROUND_SECONDS = 60
/** A run that lasts this long is written to a file. */
const MINUTES_TO_SAVE = 10

export interface FaultsOptions {
  readonly minutes: number
  /** Continues until the relay was killed this often, without a time limit. */
  readonly kills: number | undefined
  readonly seed: number
  readonly only: readonly Deed[]
  readonly engine: Engine
  readonly nodes: number
  readonly bus: BusKind | undefined
  readonly clients: number
  /** A relay of another checkout. */
  readonly start?: typeof startRelay
  /** Another build. The seed decides which one a round begins with. */
  readonly startOther?: typeof startRelay | undefined
}

/** @returns whether every promise was kept */
export async function runFaults({ minutes, kills, seed, ...options }: FaultsOptions): Promise<boolean> {
  const until = performance.now() + minutes * 60_000
  const summary = new Summary()
  const goesOn = (): boolean =>
    kills === undefined ? performance.now() < until - 1000 : summary.kills < kills
  for (let round = 0; goesOn(); round++) {
    const seconds = kills === undefined ? (until - performance.now()) / 1000 : ROUND_SECONDS
    const one = { ...options, seed: seed + round, seconds: Math.min(ROUND_SECONDS, seconds) }
    console.log(
      `seed ${one.seed}: a round of ${Math.ceil(one.seconds)} seconds on ${worldOf(one.seed, options)}`,
    )
    const result = await runRound(kills === undefined ? one : { ...one, kills: kills - summary.kills })
    tell(result, round === 0, options)
    summary.add(result)
    if (kills !== undefined && result.kills === 0) throw new Error('none of these faults kills the relay')
  }
  summary.tell()
  const settings = {
    ...{ seed, engine: options.engine, nodes: options.nodes },
    ...(options.nodes === 1 ? {} : { bus: options.bus ?? ('by seed' as const) }),
  }
  const name = options.nodes === 1 ? 'faults' : 'faults-cluster'
  if (kills !== undefined) await summary.save('kills', settings)
  else if (minutes >= MINUTES_TO_SAVE) await summary.save(name, settings)
  return summary.violations === 0
}

type World = Pick<FaultsOptions, 'engine' | 'nodes' | 'bus'>

function worldOf(seed: number, { engine, nodes, bus = busOf(seed) }: World): string {
  return nodes === 1 ? engine : `${engine}, ${nodes} nodes, their bus is ${bus}`
}

function tell(result: RoundResult, isFirst: boolean, { nodes, engine, bus }: World): void {
  const { deeds, violations, missing, savedAt, errors, seed, cutsThatTook } = result
  if (isFirst) for (const what of missing) console.log(`  not possible here: ${what}`)
  console.log(`  done: ${listed(deeds)}; ${cutsThatTook} power cuts found unsynced data`)
  console.log(`  ${listed(countsOf(result))}`)
  if (violations.length === 0) {
    console.log('  every promise kept')
    return
  }
  console.log(`  BROKEN: ${summaryOf(violations)}`)
  for (const { kind, n, what } of violations.slice(0, 12)) console.log(`    ${kind} at event ${n}: ${what}`)
  if (errors) console.log(`  the relay's last errors: ${errors.slice(-1500)}`)
  console.log(
    `  history: ${savedAt}\n  again: npm run bench -- faults --minutes 1 --seed ${seed} --engine ${engine} --nodes ${nodes}${bus ? ` --bus ${bus}` : ''}`,
  )
}

/** The number of violations of each kind. */
export function summaryOf(violations: readonly Violation[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of violations) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')
}
