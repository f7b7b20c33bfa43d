// Round after round, each with a relay, clients and a seed of its own, until the time is up.
import type { startRelay } from '@sotto/relay/testing'
import type { Violation } from './facts.ts'
import type { Deed } from './nemesis.ts'
import { type RoundResult, runRound } from './round.ts'
import type { Engine } from './target.ts'

/** Longer ones would only make the histories longer. */
const ROUND_SECONDS = 60

export interface FaultsOptions {
  readonly minutes: number
  readonly seed: number
  readonly only: readonly Deed[]
  readonly engine: Engine
  readonly clients: number
  /** Another relay than this checkout's. */
  readonly start?: typeof startRelay
}

/** @returns whether every promise was kept */
export async function runFaults({ minutes, seed, ...options }: FaultsOptions): Promise<boolean> {
  const until = performance.now() + minutes * 60_000
  let hasKept = true
  for (let round = 0; performance.now() < until - 1000; round++) {
    const left = (until - performance.now()) / 1000
    const seconds = Math.min(ROUND_SECONDS, left)
    console.log(`seed ${seed + round}: a round of ${Math.ceil(seconds)} seconds on ${options.engine}`)
    const result = await runRound({ ...options, seed: seed + round, seconds })
    tell(result, round === 0)
    hasKept &&= result.violations.length === 0
  }
  return hasKept
}

function tell(result: RoundResult, isFirst: boolean): void {
  const { counts, deeds, violations, missing, savedAt, errors, seed, cutsThatTook } = result
  if (isFirst) for (const what of missing) console.log(`  not done here: ${what}`)
  const done = Object.entries(deeds).map(([deed, count]) => `${deed} ${count}`)
  console.log(`  done: ${done.join(', ')}; ${cutsThatTook} power cuts found something unsynced`)
  const of = (name: string): number => counts[name] ?? 0
  console.log(
    `  ${of('opening')} connections, ${of('received ack')} acknowledged, ${of('received msg')} delivered, ` +
      `${of('received retract_ack')} retracted, ${of('received delivered') + of('received read')} receipts, ` +
      `${of('received error')} refused`,
  )
  if (violations.length === 0) {
    console.log('  every promise kept')
    return
  }
  console.log(`  BROKEN: ${summaryOf(violations)}`)
  for (const { kind, n, what } of violations.slice(0, 12)) console.log(`    ${kind} at event ${n}: ${what}`)
  if (errors) console.log(`  the relay's last errors: ${errors.slice(-1500)}`)
  console.log(`  history: ${savedAt}\n  again: npm run bench -- faults --minutes 1 --seed ${seed}`)
}

/** How often each kind of promise was broken. */
export function summaryOf(violations: readonly Violation[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of violations) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')
}
