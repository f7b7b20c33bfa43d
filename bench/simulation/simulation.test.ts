// A short run of bench/simulation with fixed seeds: three nodes in one process keep the relay's promises,
// whatever comes late, twice or not at all.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { patched } from '../faults/mutations.ts'
import { mutations } from './mutations.ts'
import { type Stage, setStage } from './people.ts'
import { wordsOf } from './plan.ts'
import { simulate } from './run.ts'

setDefaultTimeout(240_000)

const FIRST_SEED = 20_261_125
/** Enough for some seeds of every size and fault. What a run costs is bounded by its steps, not by time. */
const SEEDS = 150

let stage: Stage

beforeAll(async () => {
  stage = await setStage()
})

test('nothing acknowledged is lost, doubled or reordered between nodes, and everything due arrives', () => {
  let frames = 0
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const result = simulate(stage, seed)
    const again = `npm run bench -- simulate ${wordsOf(seed, {})}`
    expect(result.broken.slice(0, 5), again).toEqual([])
    frames += result.frames
  }
  expect(frames).toBeGreaterThan(SEEDS * 10)
})

test('a seed gives the same run each time, whatever ran before it', () => {
  const digests = (): string[] => [3, 1, 2].map((seed) => simulate(stage, seed).digest)
  expect(digests()).toEqual(digests())
})

test('the mutants that the simulation must catch still match the source', () => {
  for (const { patches } of mutations) expect(patched(patches).size).toBeGreaterThan(0)
})
