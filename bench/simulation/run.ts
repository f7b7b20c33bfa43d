// Runs the simulation of one seed.
import type { Broken } from './judge.ts'
import type { Stage } from './people.ts'
import { type Cuts, planOf } from './plan.ts'
import { Schedule } from './schedule.ts'
import { World } from './world.ts'

export interface RunResult {
  readonly broken: readonly Broken[]
  readonly steps: number
  /** How many frames clients sent and received. */
  readonly frames: number
  /** Virtual milliseconds until everything had arrived after the last fault. */
  readonly quietMs: number
  /** A digest of all that happened. The same seed gives the same. */
  readonly digest: string
}

/** Runs one seed, without anything else of the process beside it. */
export function simulate(
  stage: Stage,
  seed: number,
  { cuts = {}, trace }: { cuts?: Cuts; trace?: (line: string) => void } = {},
): RunResult {
  const schedule = new Schedule(trace)
  stage.database.begin()
  try {
    return schedule.withTimers(() => {
      const world = new World(planOf(seed, cuts), stage, schedule)
      const { broken, quietMs } = world.run()
      const digest = `${schedule.count} ${Bun.hash(JSON.stringify(world.events)).toString(36)}`
      return { broken, steps: schedule.count, frames: world.events.length, quietMs, digest }
    })
  } finally {
    stage.database.end()
  }
}
