// `npm run fuzz`: attacks relays and decoders with random input for the given time.
import { parseArgs } from 'node:util'
import { engines } from '../packages/relay/test/engines.ts'
import { parts } from './parts.ts'
import { type Result, rowOf, runParts } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    only: { type: 'string', default: parts.map(({ name }) => name).join(',') },
    from: { type: 'string', default: '0' },
    engine: { type: 'string', default: 'sqlite' },
    help: { type: 'boolean', default: false },
  },
})
const engine = engines.find(({ name }) => name.toLowerCase().startsWith(values.engine.toLowerCase()))
const chosen = values.only.split(',').map((name) => parts.find((part) => part.name === name))
const [minutes, seed, from] = [Number(values.minutes), Number(values.seed), Number(values.from)]
const known = chosen.filter((part) => part !== undefined)
if (
  values.help ||
  !engine ||
  known.length < chosen.length ||
  !(minutes > 0) ||
  !(seed >= 0) ||
  !(from >= 0)
) {
  console.log(
    'npm run fuzz -- [--minutes N] [--seed S] [--only part,part] [--from index] [--engine sqlite|postgres]\n',
  )
  for (const { name, means } of parts) console.log(`  ${name.padEnd(12)} ${means}`)
  console.log(
    '\n--minutes is the time of all parts together. A part with --seed and --from makes the same inputs again.',
  )
  process.exit(values.help ? 0 : 2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
console.log(`Seed ${seed}, ${minutes} minutes, ${engine.name}`)
const results = await runParts(known, { seed, seconds: minutes * 60, from, engine, tell })
console.table(results.map(rowOf))
const total = results.reduce((sum, { inputs }) => sum + inputs, 0)
const found = results.filter(({ finding }) => finding !== undefined).length
console.log(
  `\n${total} inputs, ${found === 0 ? 'nothing found' : `${found} parts found something`}, seed ${seed}`,
)
process.exit(found === 0 ? 0 : 1)

function tell({ part, inputs, answers, finding }: Result): void {
  console.log(`${part}: ${inputs} inputs, ${JSON.stringify(answers)}`)
  if (finding !== undefined) console.log(`\nFOUND ${finding}\n`)
}
