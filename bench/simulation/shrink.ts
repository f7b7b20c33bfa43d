// Makes a failing run smaller: leaves out what is not needed to break a promise of the same kind.
import type { Stage } from './people.ts'
import { type Cuts, planOf } from './plan.ts'
import { simulate } from './run.ts'

/** The smallest part of a seed's plan that was found to break such a promise. */
export function shrink(stage: Stage, seed: number, start: Cuts = {}): Cuts {
  const kinds = new Set(simulate(stage, seed, { cuts: start }).broken.map(({ kind }) => kind))
  const isBroken = (cuts: Cuts): boolean =>
    simulate(stage, seed, { cuts }).broken.some(({ kind }) => kinds.has(kind))
  let best = start
  for (;;) {
    const smaller = smallerThan(seed, best).find(isBroken)
    if (!smaller) return best
    best = smaller
  }
}

/** Plans that lack one thing, or some, of this one. */
function smallerThan(seed: number, cuts: Cuts): Cuts[] {
  const plan = planOf(seed, cuts)
  const numbers = plan.faults.map(({ number }) => number)
  const candidates: Cuts[] = []
  if (numbers.length > 0) candidates.push({ ...cuts, faults: [] })
  for (const left of numbers)
    candidates.push({ ...cuts, faults: numbers.filter((number) => number !== left) })
  for (let nodes = 1; nodes < plan.nodes; nodes++) candidates.push({ ...cuts, nodes })
  for (let people = 2; people < plan.people; people++) candidates.push({ ...cuts, people })
  for (let actions = 1; actions < plan.actions; actions++) candidates.push({ ...cuts, actions })
  return candidates
}
