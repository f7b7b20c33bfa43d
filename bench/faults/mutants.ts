// Tests the checker: runs relays that deliberately break a promise, and expects a violation for each.
// bun bench/faults/mutants.ts [--seconds 12] [--seed 7] [--quiet-seconds 6] [--name words in its name]
import { parseArgs } from 'node:util'
import { mutations, plant } from './mutations.ts'
import { runRound } from './round.ts'
import { summaryOf } from './run.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '12' },
    seed: { type: 'string', default: '7' },
    'quiet-seconds': { type: 'string', default: '6' },
    name: { type: 'string', default: '' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
let escaped = 0
for (const mutation of mutations.filter(({ name }) => name.includes(values.name))) {
  const { start, remove } = await plant(mutation)
  console.log(`${mutation.name} (faults: ${mutation.only.join(', ')}; seed ${values.seed})`)
  const began = performance.now()
  const { nodes = 1 } = mutation
  try {
    const { violations, missing, deeds } = await runRound({
      seed: Number(values.seed),
      seconds: Number(values.seconds),
      quietMs: Number(values['quiet-seconds']) * 1000,
      lastsMs: [200, 800],
      only: mutation.only,
      nodes,
      engine: nodes === 1 ? 'sqlite' : 'postgres',
      savesHistory: false,
      start,
    })
    const caught = violations.find(({ kind }) => mutation.breaks.includes(kind))
    const seconds = Math.round((performance.now() - began) / 1000)
    if (caught)
      console.log(`  caught after ${seconds} s: ${summaryOf(violations)}\n    ${caught.kind}: ${caught.what}`)
    else if (Object.keys(deeds).length === 0) console.log(`  not tried: ${missing.join('; ')}`)
    else {
      escaped += 1
      console.log(`  ESCAPED: ${summaryOf(violations) || 'no violation'}`)
    }
  } finally {
    remove()
  }
}
console.log(escaped === 0 ? 'every mutant that was tried is caught' : `${escaped} escaped`)
process.exit(escaped === 0 ? 0 : 1)
