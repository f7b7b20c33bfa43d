// `npm run bench -- simulate`: runs N nodes in one process under a seed, whose steps come in an order that
// the seed chooses, and judges what their clients saw.
import { parseArgs } from 'node:util'
import { setStage } from './people.ts'
import { type Cuts, faults, planOf, wordsOf } from './plan.ts'
import { simulate } from './run.ts'
import { addSummaries, noSummary, type Summary, saveSummary, simulateAll } from './seeds.ts'
import { shrink } from './shrink.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1..1000' },
    jobs: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    nodes: { type: 'string' },
    people: { type: 'string' },
    actions: { type: 'string' },
    faults: { type: 'string' },
    // For mutants: the first seed that breaks a promise is enough.
    first: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const range = /^(\d+)\.\.(\d+)$/.exec(values.seeds)
if (values.help || !range) {
  console.log('npm run bench -- simulate [--seeds FROM..TO] [--jobs PROCESSES] [--save]')
  console.log(
    'npm run bench -- simulate --seed N [--trace] [--nodes N] [--people N] [--actions N] [--faults 0,2]\n',
  )
  for (const [fault, means] of Object.entries(faults)) console.log(`  ${fault.padEnd(9)} ${means}`)
  process.exit(values.help ? 0 : 2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
// A process that runs a part of the seeds ends with the one that started it.
process.once('disconnect', () => process.exit(130))
const [from, to] = [Number(range[1]), Number(range[2])]
if (values.seed !== undefined) process.exit(await runOne(Number(values.seed)))
else if (process.send) process.send(await simulateAll(from, to, (line) => console.log(line), values.first))
else process.exit(await runAll(Number(values.jobs)))

async function runOne(seed: number): Promise<number> {
  const stage = await setStage()
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  const given = {
    ...{ nodes: number(values.nodes), people: number(values.people), actions: number(values.actions) },
    faults: values.faults?.split(',').flatMap((each) => (/^\d+$/.test(each) ? [Number(each)] : [])),
  }
  const cuts: Cuts = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const { broken, ...figures } = simulate(stage, seed, {
    cuts,
    ...(values.trace ? { trace: (line: string) => console.log(line) } : {}),
  })
  console.log(planOf(seed, cuts), figures)
  for (const { kind, what } of broken) console.log(`${kind}: ${what}`)
  if (broken.length > 0 && !values.trace)
    console.log(`the smallest: npm run bench -- simulate ${wordsOf(seed, shrink(stage, seed, cuts))} --trace`)
  return broken.length > 0 ? 1 : 0
}

async function runAll(jobs: number): Promise<number> {
  const startedAt = performance.now()
  const share = Math.ceil((to - from + 1) / jobs)
  const parts = Array.from({ length: jobs }, (_, i) => {
    const first = from + i * share
    return runPart(first, Math.min(to, first + share - 1))
  })
  const total = (await Promise.all(parts)).reduce(addSummaries, noSummary)
  const seconds = (performance.now() - startedAt) / 1000
  const { seeds, steps, frames, failed, slowestQuietMs } = total
  console.log(
    `${seeds} seeds, ${steps} steps, ${frames} frames in ${seconds.toFixed(1)} s, ${(seeds / seconds).toFixed(1)} seeds/s; ` +
      `everything had arrived ${(slowestQuietMs / 1000).toFixed(1)} s after the last fault, at most`,
  )
  console.log(
    failed.length === 0
      ? 'every promise kept'
      : `BROKEN by ${failed.length} seeds: ${failed.map(({ seed }) => seed).join(', ')}`,
  )
  if (values.save) await saveSummary(total, { from, to, jobs, seconds })
  return failed.length === 0 ? 0 : 1
}

/** Runs a part of the seeds in a process of its own. */
function runPart(first: number, last: number): Promise<Summary> {
  return new Promise((resolve, reject) => {
    const child = Bun.spawn([process.execPath, import.meta.path, '--seeds', `${first}..${last}`], {
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (summary: Summary) => {
        resolve(summary)
        child.kill()
      },
    })
    process.once('exit', () => child.kill('SIGKILL'))
    void child.exited.then(() => reject(new Error(`the process of seeds ${first} to ${last} ended`)))
  })
}
