// Runs many seeds one after the other, and counts.
import { join } from 'node:path'
import { machine } from '../measure.ts'
import { setStage } from './people.ts'
import { wordsOf } from './plan.ts'
import { simulate } from './run.ts'
import { shrink } from './shrink.ts'

export interface Summary {
  readonly seeds: number
  readonly steps: number
  readonly frames: number
  /** The seeds that broke a promise, each with the first that it broke. */
  readonly failed: readonly { readonly seed: number; readonly what: string }[]
  readonly slowestQuietMs: number
}

export const noSummary: Summary = { seeds: 0, steps: 0, frames: 0, failed: [], slowestQuietMs: 0 }

/** After how many seeds the process looks for signals. */
const SIGNALS_EVERY = 50
/** How many failing seeds are shrunk: it takes many runs. */
const MOST_SHRUNK = 3

/**
 * Runs seeds, both ends included. Says what each broke, and how to see it again.
 * @param isEnough whether one that broke a promise is enough, which is not made smaller then
 */
export async function simulateAll(
  from: number,
  to: number,
  say: (line: string) => void,
  isEnough = false,
): Promise<Summary> {
  const stage = await setStage()
  let summary = noSummary
  for (let seed = from; seed <= to; seed++) {
    // Runs are synchronous, so signals are seen only in between.
    if (seed % SIGNALS_EVERY === 0) await new Promise((resolve) => setImmediate(resolve))
    const { broken, steps, frames, quietMs } = simulate(stage, seed)
    const failed = broken.slice(0, 1).map(({ kind, what }) => ({ seed, what: `${kind}: ${what}` }))
    summary = addSummaries(summary, { seeds: 1, steps, frames, failed, slowestQuietMs: quietMs })
    if (broken.length === 0) continue
    if (isEnough) break
    say(`seed ${seed}:`)
    for (const { kind, what } of broken.slice(0, 5)) say(`  ${kind}: ${what}`)
    const cuts = summary.failed.length <= MOST_SHRUNK ? shrink(stage, seed) : {}
    say(`  again: npm run bench -- simulate ${wordsOf(seed, cuts)} --trace`)
  }
  return summary
}

export function addSummaries(a: Summary, b: Summary): Summary {
  return {
    seeds: a.seeds + b.seeds,
    steps: a.steps + b.steps,
    frames: a.frames + b.frames,
    failed: [...a.failed, ...b.failed],
    slowestQuietMs: Math.max(a.slowestQuietMs, b.slowestQuietMs),
  }
}

/** Writes the figures of a long run to a file. */
export async function saveSummary(
  summary: Summary,
  settings: { from: number; to: number; jobs: number; seconds: number },
): Promise<void> {
  const result = {
    name: 'simulation',
    at: new Date().toISOString(),
    machine: machine(),
    settings,
    ...summary,
  }
  const path = join(import.meta.dir, '../results/simulation.json')
  await Bun.write(path, `${JSON.stringify(result, null, 2)}\n`)
}
