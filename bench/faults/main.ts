// `npm run bench -- faults`: injects faults into a relay for the given time and checks its clients' history.
import { parseArgs } from 'node:util'
import { busKinds } from './bus.ts'
import { allDeeds, deeds, isDeed } from './deeds.ts'
import { starterIn } from './mutations.ts'
import { runFaults } from './run.ts'
import type { Engine } from './target.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '1' },
    kills: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    only: { type: 'string', default: allDeeds.join(',') },
    engine: { type: 'string' },
    nodes: { type: 'string', default: '1' },
    bus: { type: 'string' },
    clients: { type: 'string', default: '8' },
    checkout: { type: 'string' },
    other: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const nodes = Number(values.nodes)
const named = values.engine ?? (nodes > 1 ? 'postgres' : 'sqlite')
const engine = ['sqlite', 'postgres'].find((each): each is Engine => each === named)
const bus = busKinds.find((each) => each === values.bus)
const unknown = values.only.split(',').filter((name) => !isDeed(name))
if (values.help || !engine || bus !== values.bus || unknown.length > 0) {
  if (unknown.length > 0) console.log(`Unknown faults: ${unknown.join(', ')}`)
  console.log(
    'npm run bench -- faults [--minutes N | --kills N] [--seed S] [--only a,b] [--engine sqlite|postgres] [--nodes N] [--bus postgres|nats] [--clients N] [--checkout folder] [--other folder]\n',
  )
  for (const [deed, means] of Object.entries(deeds)) console.log(`  ${deed.padEnd(11)} ${means}`)
  process.exit(values.help ? 0 : 2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const hasKept = await runFaults({
  minutes: Number(values.minutes),
  kills: values.kills === undefined ? undefined : Number(values.kills),
  seed: Number(values.seed),
  only: values.only.split(',').filter(isDeed),
  engine,
  nodes,
  bus,
  clients: Number(values.clients),
  startOther: values.other ? await starterIn(values.other) : undefined,
  ...(values.checkout ? { start: await starterIn(values.checkout) } : {}),
})
process.exit(hasKept ? 0 : 1)
