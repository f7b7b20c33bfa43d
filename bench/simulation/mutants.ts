// Tests the simulation: runs seeds on relays that deliberately break a promise, until one shows it.
// bun bench/simulation/mutants.ts [--seeds 20000] [--name words in its name]
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyWith } from '../faults/mutations.ts'
import { mutations, type SimulatedMutation } from './mutations.ts'
import type { Summary } from './seeds.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '20000' }, name: { type: 'string', default: '' } },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
let escaped = 0
for (const mutation of mutations.filter(({ name }) => name.includes(values.name))) {
  const startedAt = performance.now()
  const { seeds, failed } = await findIn(mutation)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const [first] = failed
  console.log(`${mutation.name}\n  ${first ? 'caught' : 'ESCAPED'}: ${seeds} seeds, ${seconds} s`)
  if (first) console.log(`  seed ${first.seed}: ${first.what}`)
  else escaped += 1
}
console.log(escaped === 0 ? 'every mutant is caught' : `${escaped} escaped`)
process.exit(escaped === 0 ? 0 : 1)

/** Runs seeds on a copy of this checkout with the mutation. */
async function findIn({ patches }: SimulatedMutation): Promise<Summary> {
  const { folder, remove } = copyWith(patches, 'bench')
  try {
    return await new Promise((resolve, reject) => {
      const main = join(folder, 'bench/simulation/main.ts')
      const child = Bun.spawn([process.execPath, main, '--first', '--seeds', `1..${values.seeds}`], {
        stdout: 'inherit',
        stderr: 'inherit',
        ipc: (summary: Summary) => {
          resolve(summary)
          child.kill()
        },
      })
      void child.exited.then(() => reject(new Error('the process of the mutant ended')))
    })
  } finally {
    remove()
  }
}
