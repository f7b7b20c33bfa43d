// `npm run bench -- <name>`: runs one benchmark, or all except the long ones. Prints the tables and writes
// the results to bench/results/.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { abuse } from './abuse.ts'
import { app } from './app.ts'
import { backlog } from './backlog.ts'
import type { Bench } from './bench.ts'
import { cluster } from './cluster/cluster.ts'
import { fanout } from './fanout.ts'
import { firstMessage } from './first-message.ts'
import { idle } from './idle.ts'
import { login } from './login.ts'
import { machine } from './measure.ts'
import { media } from './media.ts'
import { oneFile } from './one-file.ts'
import { peers } from './peers/peers.ts'
import { queue } from './queue.ts'
import { relay } from './relay.ts'
import { search } from './search.ts'
import { secrecy } from './secrecy.ts'
import { hasTwoCores, takeLoadCore } from './server-process.ts'
import { size } from './size.ts'
import { soak } from './soak.ts'

const benches: Readonly<Record<string, Bench>> = {
  relay,
  idle,
  backlog,
  login,
  search,
  secrecy,
  size,
  soak,
  fanout,
  media,
  'first-message': firstMessage,
  'one-file': oneFile,
  queue,
  peers,
  abuse,
  app,
  cluster,
}

/** The benchmarks that `all` leaves out. */
const LONG = new Set(['soak', 'peers', 'abuse', 'app', 'cluster', 'secrecy'])
const DEFAULT_SECONDS = 5

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    // `abuse`, `app` and `cluster` read this option: the attacks or the parts to measure, comma-separated.
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
    // The `peers` benchmark reads this option: whether to install missing packages.
    install: { type: 'boolean', default: false },
  },
})
const [asked = ''] = positionals
const names = asked === 'all' ? Object.keys(benches).filter((name) => !LONG.has(name)) : [asked]
if (!names.every((name) => benches[name]) || values.help) {
  console.log(
    'npm run bench -- <name> [--seconds N] [--minutes N, for soak and app] [--only A,B, for abuse, app and cluster]\n',
  )
  for (const [each, { means }] of Object.entries(benches)) console.log(`  ${each.padEnd(14)} ${means}`)
  console.log(`  ${'all'.padEnd(14)} all of them except ${[...LONG].join(', ')}, one after the other`)
  console.log(
    `  ${'compare'.padEnd(14)} compares the CPU time of this version and another one; --help for its options`,
  )
  console.log(`  ${'faults'.padEnd(14)} breaks a relay and checks its promises; --help for its options`)
  console.log(
    `  ${'simulate'.padEnd(14)} runs several nodes in one process under a seed; --help for its options`,
  )
  console.log(
    `  ${'conversations'.padEnd(14)} runs schedules of a conversation under crypto_v 3; --help for its options`,
  )
  process.exit(values.help ? 0 : 2)
}
await takeLoadCore()
if (!hasTwoCores) console.log('Server and load share one core, so the figures mean little.')
const on = machine()
console.log(
  `${on.commit} on ${on.cpu}, ${on.cores} cores, ${on.memoryGib} GiB, Linux ${on.kernel}, Bun ${on.bun}`,
)
for (const name of names) await runBench(name)
process.exit(0)

async function runBench(name: string): Promise<void> {
  const bench = benches[name]
  if (!bench) return
  const startedAt = performance.now()
  const { settings, rows } = await bench.run({
    seconds: Number(values.seconds ?? bench.defaultSeconds ?? DEFAULT_SECONDS),
    minutes: Number(values.minutes),
    only: values.only.split(',').filter((part) => part !== ''),
  })
  const tookSeconds = Math.round((performance.now() - startedAt) / 1000)
  console.log(`${name}, ${tookSeconds} s`, settings)
  console.table(rows)
  const result = { name, at: new Date().toISOString(), tookSeconds, machine: on, settings, rows }
  await Bun.write(join(import.meta.dir, 'results', `${name}.json`), `${JSON.stringify(result, null, 2)}\n`)
}
