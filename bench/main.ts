// `npm run bench -- <name>`: runs one benchmark, prints its table, and writes what it gave to bench/results/.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { backlog } from './backlog.ts'
import type { Bench } from './bench.ts'
import { fanout } from './fanout.ts'
import { firstMessage } from './first-message.ts'
import { idle } from './idle.ts'
import { login } from './login.ts'
import { machine } from './measure.ts'
import { media } from './media.ts'
import { peers } from './peers/peers.ts'
import { relay } from './relay.ts'
import { hasTwoCores, takeLoadCore } from './server-process.ts'
import { size } from './size.ts'
import { soak } from './soak.ts'

const benches: Readonly<Record<string, Bench>> = {
  relay,
  idle,
  backlog,
  login,
  size,
  soak,
  fanout,
  media,
  'first-message': firstMessage,
  peers,
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
    // Read by the bench of the peers: whether to install what it lacks.
    install: { type: 'boolean', default: false },
  },
})
const [name = ''] = positionals
const bench = benches[name]
if (!bench || values.help) {
  console.log('npm run bench -- <name> [--seconds N] [--minutes N, of soak]\n')
  for (const [each, { means }] of Object.entries(benches)) console.log(`  ${each.padEnd(10)} ${means}`)
  console.log(`  ${'faults'.padEnd(10)} breaks a relay and checks its promises; --help for its options`)
  process.exit(values.help ? 0 : 2)
}
await takeLoadCore()
if (!hasTwoCores) console.log('One core for server and load together: figures say little.')
const on = machine()
console.log(`${name} on ${on.cpu}, ${on.cores} cores, ${on.memoryGib} GiB, Linux ${on.kernel}, Bun ${on.bun}`)
const { settings, rows } = await bench.run({
  seconds: Number(values.seconds),
  minutes: Number(values.minutes),
})
console.log(settings)
console.table(rows)
const file = join(import.meta.dir, 'results', `${name}.json`)
await Bun.write(
  file,
  `${JSON.stringify({ name, at: new Date().toISOString(), machine: on, settings, rows }, null, 2)}\n`,
)
process.exit(0)
