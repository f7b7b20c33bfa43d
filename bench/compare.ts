// `npm run bench -- compare <checkout> [work …] [--pairs N]`: compares the CPU time that a unit of work costs
// this version and another one, in alternating pairs. The other version runs twice in each pair, which shows
// by how much its own figures vary.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Contender, Measured } from './contest.ts'
import { makeAccounts } from './load/accounts.ts'
import { backlogs } from './load/backlogs.ts'
import { runExchange } from './load/exchange.ts'
import { logins, reconnections, reconnectionsWithBacklog } from './load/logins.ts'
import { closePairs, relayPairs } from './load/pairs.ts'
import { storeMessages } from './load/waiting.ts'
import { median } from './measure.ts'
import { type MeasuredServer, startMeasuredRelay, takeLoadCore } from './server-process.ts'

/** Prepares a kind of work on a relay of one of the two versions. */
type Work = (name: string, server: MeasuredServer) => Promise<Contender>

const SETTINGS = { LIMIT_IDLE_SECONDS: '900', LOG_LEVEL: 'error' }
const ALLOWED = 1.03

const works: Readonly<Record<string, Work>> = {
  relay: exchangeWith(20),
  'relay-1': exchangeWith(1),
  login: logins,
  reconnection: reconnections,
  'reconnection-backlog': reconnectionsWithBacklog,
  backlog: wholeBacklogs,
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
})
const [, checkout = '', ...asked] = positionals
const names = asked.length > 0 ? asked : ['relay']
if (checkout === '' || values.help || names.some((name) => !works[name])) {
  console.log(
    'npm run bench -- compare <other checkout> [work …] [--pairs N] [--seconds N, each measurement]\n',
  )
  console.log(`kinds of work: ${Object.keys(works).join(', ')}; the default is relay`)
  process.exit(values.help ? 0 : 2)
}
await takeLoadCore()
const [here, other] = [join(import.meta.dir, '..'), resolve(checkout)]
console.log(`this: ${versionOf(here)}; other: ${versionOf(other)}; ${values.pairs} pairs`)
for (const name of names) {
  const work = works[name]
  if (work) report(name, await runPairs(work, Number(values.pairs), Number(values.seconds)))
}
process.exit(0)

/** CPU µs a unit in one pair. */
interface Pair {
  readonly old: number
  readonly current: number
  readonly oldAgain: number
}

async function runPairs(work: Work, count: number, seconds: number): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let number = 0; number < count; number++) {
    // Every pair gets new processes: the memory layout of a process affects its speed and stays the same
    // while it runs.
    const contenders = [
      await work('old', await startMeasuredRelay(SETTINGS, other)),
      await work('current', await startMeasuredRelay(SETTINGS, here)),
      await work('oldAgain', await startMeasuredRelay(SETTINGS, other)),
    ]
    // Each pair starts with another contender. The contenders run forwards and then backwards, so that a
    // drift of the machine's speed within the pair affects all of them equally.
    const order = contenders.map((_, place) => contenders[(place + number) % 3]).filter((each) => !!each)
    for (const contender of order) await contender.measure(seconds)
    const measured = new Map(order.map(({ name }) => [name, [] as Measured[]]))
    for (const contender of [...order, ...order.toReversed()])
      measured.get(contender.name)?.push(await contender.measure(seconds))
    for (const contender of contenders) await contender.close()
    const cost = (name: string): number => {
      const of = measured.get(name) ?? []
      return of.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / of.length
    }
    const pair = { old: cost('old'), current: cost('current'), oldAgain: cost('oldAgain') }
    pairs.push(pair)
    const [ratio, itself] = [ratioToOther(pair), ratioToItself(pair)].map((value) => value.toFixed(3))
    console.log(`  pair ${number + 1}: this to other ${ratio}, other to itself ${itself}`)
  }
  return pairs
}

function ratioToOther({ old, current, oldAgain }: Pair): number {
  return current / ((old + oldAgain) / 2)
}

function ratioToItself({ old, oldAgain }: Pair): number {
  return oldAgain / old
}

function report(name: string, pairs: readonly Pair[]): void {
  const ratios = pairs.map(ratioToOther)
  const itself = pairs.map(ratioToItself)
  const spread = 1 + median(itself.map((ratio) => Math.abs(ratio - 1)))
  const found = median(ratios)
  const range = (of: readonly number[]): string =>
    `${Math.min(...of).toFixed(3)} to ${Math.max(...of).toFixed(3)}`
  const cost = (of: (pair: Pair) => number): string => median(pairs.map(of)).toFixed(2)
  console.log(`${name}: CPU a unit, median of ${pairs.length} pairs`)
  console.log(`  this to other     ${found.toFixed(3)}  (${range(ratios)})`)
  console.log(
    `  other to itself   ${median(itself).toFixed(3)}  (${range(itself)}), half within ${spread.toFixed(3)}`,
  )
  console.log(`  CPU µs            ${cost((pair) => pair.current)} this, ${cost((pair) => pair.old)} other`)
  console.log(`  not above ${ALLOWED} or the spread: ${found <= Math.max(ALLOWED, spread) ? 'yes' : 'NO'}`)
}

function exchangeWith(window: number): Work {
  return async (name, server) => {
    const pairs = await relayPairs(server.url, 50)
    return {
      name,
      measure: async (seconds) => {
        const plan = { serverPid: server.pid, seconds, warmUpSeconds: 0.5, payloadBytes: 400, receipts: true }
        const result = await runExchange(pairs, { ...plan, window })
        return { ...result, cpuUs: result.serverCpuUs }
      },
      close: async () => {
        closePairs(pairs)
        await server.stop()
      },
    }
  }
}

async function wholeBacklogs(name: string, server: MeasuredServer): Promise<Contender> {
  const [from, to] = await makeAccounts(server.url, 2)
  if (!from || !to) throw new Error('no accounts were made')
  await storeMessages(from, to, 20_000)
  return backlogs(name, server, [to])
}

function versionOf(folder: string): string {
  const { stdout, success } = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: folder })
  return success ? stdout.toString().trim() : folder
}
