// `workers` and `engines`: how many exchanges a second servers reach, one after the other in each round, and
// the CPU time that each side needs for a message. All sides share the cores, so the CPU times say more than
// the rates.
import type { Bench } from '../bench.ts'
import { type ExchangeResult, runExchange } from '../load/exchange.ts'
import { closePairs, relayPairs } from '../load/pairs.ts'
import { cpuMs, machineCpuMs, median, ratio } from '../measure.ts'
import { startDatabase, startNode } from './nodes.ts'

const PAYLOAD_BYTES = 400
const SIZES = { pairs: 50, window: 20, rounds: 7 }

type Server = 'embedded' | 'one process' | 'two workers'

/** The length of a run. */
export interface RateSizes {
  readonly pairs: number
  /** Messages in flight for each pair. */
  readonly window: number
  readonly rounds: number
  /** The length of each measurement. */
  readonly seconds: number
}

export const workers: Bench = {
  means: 'two workers against one process, both on PostgreSQL',
  run: ({ seconds }) => compare(['one process', 'two workers'], seconds),
}

export const engines: Bench = {
  means: 'one node on PostgreSQL against an embedded one; the aim is 60% of its rate',
  run: ({ seconds }) => compare(['embedded', 'one process'], seconds),
}

async function compare(servers: readonly Server[], seconds: number) {
  const sizes = { ...SIZES, seconds }
  return { settings: { ...sizes, payloadBytes: PAYLOAD_BYTES }, rows: await measureRates(servers, sizes) }
}

/** Measures each server in each round. @returns a row for each */
export async function measureRates(
  servers: readonly Server[],
  { pairs: count, window, rounds, seconds }: RateSizes,
) {
  await using database = await startDatabase()
  const contenders = []
  for (const server of servers) {
    const node = await start(server)
    contenders.push({
      server,
      node,
      pairs: await relayPairs(node.url, count),
      results: [] as ExchangeResult[],
    })
  }
  for (let round = 0; round < rounds; round++)
    for (const { node, pairs, results } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const meters = {
        relay: node.cpuMs,
        database: database.cpuMs,
        load: () => cpuMs(process.pid),
        machine: machineCpuMs,
      }
      const load = { seconds, warmUpSeconds: 1, payloadBytes: PAYLOAD_BYTES, window, receipts: true }
      results.push(await runExchange(pairs, { ...load, serverPid: node.pid, meters }))
    }
  for (const { pairs } of contenders) closePairs(pairs)
  for (const { server, node } of contenders) if (server === 'embedded') await node.stop()
  const [first] = contenders
  return contenders.map(({ server, results }) => rowOf(server, results, first?.results ?? []))

  async function start(server: Server) {
    if (server === 'embedded') return await startNode()
    const env: Record<string, string> = server === 'two workers' ? { WORKERS: '2' } : {}
    const [node] = await database.startNodes(1, { env })
    if (!node) throw new Error('the node is missing')
    return node
  }
}

function rowOf(server: Server, results: readonly ExchangeResult[], first: readonly ExchangeResult[]) {
  const of = (value: (result: ExchangeResult) => number): number => median(results.map(value))
  const meter = ({ metersPerSecond }: ExchangeResult, name: string): number =>
    metersPerSecond[name] ?? Number.NaN
  const cpuUs = (name: string): number =>
    Math.round(of((result) => (meter(result, name) * 1000) / result.perSecond) * 10) / 10
  const ours = (result: ExchangeResult): number =>
    meter(result, 'relay') + meter(result, 'database') + meter(result, 'load')
  const ratios = results.map(({ perSecond }, round) => perSecond / (first[round]?.perSecond ?? Number.NaN))
  return {
    server,
    'rate, to the first': ratio(median(ratios)),
    range: `${ratio(Math.min(...ratios))} to ${ratio(Math.max(...ratios))}`,
    'messages/s': Math.round(of(({ perSecond }) => perSecond)),
    'relay, CPU µs': cpuUs('relay'),
    'PostgreSQL, CPU µs': cpuUs('database'),
    'load, CPU µs': cpuUs('load'),
    'cores that these used': ratio(of(ours) / 1000),
    'cores of other work': ratio(of((result) => meter(result, 'machine') - ours(result)) / 1000),
  }
}
