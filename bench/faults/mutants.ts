// Tests the checker: runs relays that deliberately break a promise, and expects a violation for each, or the
// failure of the test that the mutant names.
// bun bench/faults/mutants.ts [--seconds 12] [--seed 7] [--quiet-seconds 6] [--name words in its name]
import { parseArgs } from 'node:util'
import { copyWith, mutations, plant } from './mutations.ts'
import { runRound } from './round.ts'
import { summaryOf } from './run.ts'
import { type TestedMutation, testedMutations } from './tested-mutations.ts'

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
  const { nodes = 1, bus = 'postgres' } = mutation
  try {
    const { violations, missing, deeds } = await runRound({
      seed: Number(values.seed),
      seconds: Number(values.seconds),
      quietMs: Number(values['quiet-seconds']) * 1000,
      lastsMs: [200, 800],
      only: mutation.only,
      nodes,
      bus,
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
for (const mutation of testedMutations.filter(({ name }) => name.includes(values.name))) {
  console.log(`${mutation.name} (${mutation.test.file})`)
  const began = performance.now()
  const failed = await failureIn(mutation)
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(failed ? `  caught after ${seconds} s: ${failed}` : '  ESCAPED: its test passes')
  if (!failed) escaped += 1
}
console.log(escaped === 0 ? 'every mutant that was tried is caught' : `${escaped} escaped`)
process.exit(escaped === 0 ? 0 : 1)

/** Runs the test that a mutant names. @returns the line that says that it failed */
async function failureIn({ patches, test }: TestedMutation): Promise<string | undefined> {
  // The parts of the protocol's tests serve those of the relay, too.
  const { folder, remove } = copyWith(patches, 'packages/protocol')
  try {
    const command = [
      process.execPath,
      'test',
      test.file,
      '--test-name-pattern',
      test.name,
      '--timeout',
      '120000',
    ]
    const child = Bun.spawn(command, { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
    const [output] = await Promise.all([new Response(child.stderr).text(), child.exited])
    const results = output
      .split('\n')
      .filter((line) => /^\((?:pass|fail)\)/.test(line) && line.includes(test.name))
    if (results.length === 0) throw new Error(`the test did not run: ${output.slice(-1000)}`)
    return results.find((line) => line.startsWith('(fail)'))
  } finally {
    remove()
  }
}
