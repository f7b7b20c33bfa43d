// `npm run bench -- relay`: durable throughput and latency of the whole exchange, against the floor in the
// same run.
import type { Bench } from './bench.ts'
import { type ExchangeResult, runExchange } from './load/exchange.ts'
import { exchangeRow } from './load/exchange-row.ts'
import { closePairs, floorPairs, type Pair, relayPairs } from './load/pairs.ts'
import { median, ratio } from './measure.ts'
import { startFloor, startMeasuredRelay } from './server-process.ts'

const PAIRS = 50
const PAYLOAD_BYTES = 400
const ROUNDS = 3
/**
 * `window` is the number of messages in flight for each pair. One load has recipients that do not confirm.
 */
const LOADS = [
  { window: 1, receipts: true },
  { window: 5, receipts: true },
  { window: 20, receipts: true },
  { window: 20, receipts: false },
  { window: 50, receipts: true },
]

interface Contender {
  readonly name: string
  readonly pid: number
  readonly pairs: readonly Pair[]
}

export const relay: Bench = {
  means: 'throughput and latency of the whole exchange, against the floor',
  run: async ({ seconds }) => {
    const [server, floor] = [await startMeasuredRelay(), await startFloor()]
    const contenders: Contender[] = [
      { name: 'relay', pid: server.pid, pairs: await relayPairs(server.url, PAIRS) },
      { name: 'floor', pid: floor.pid, pairs: await floorPairs(floor.url, PAIRS) },
    ]
    const rows: Record<string, string | number>[] = []
    const plan = { seconds, warmUpSeconds: 1, payloadBytes: PAYLOAD_BYTES }
    let best = 0
    for (const load of LOADS) {
      const results = new Map<string, ExchangeResult[]>()
      // Relay and floor alternate in each round, so that a drift of the machine's speed affects both.
      for (let round = 0; round < ROUNDS; round++) {
        for (const { name, pid, pairs } of contenders) {
          const result = await runExchange(pairs, { ...plan, ...load, serverPid: pid })
          results.set(name, [...(results.get(name) ?? []), result])
        }
      }
      const [ours = [], bare = []] = [results.get('relay'), results.get('floor')]
      const middle = (of: readonly ExchangeResult[], figure: 'serverCpuUs' | 'perSecond'): number =>
        median(of.map((result) => result[figure]))
      const ratios = {
        'CPU, floor to relay': ratio(middle(bare, 'serverCpuUs') / middle(ours, 'serverCpuUs')),
        'rate, relay to floor': ratio(middle(ours, 'perSecond') / middle(bare, 'perSecond')),
      }
      best = Math.max(best, middle(ours, 'perSecond'))
      for (const [name, of] of results)
        rows.push(
          exchangeRow(of, { server: name, ...load, receipts: load.receipts ? 'yes' : 'no', ...ratios }),
        )
    }
    for (const rate of [200, Math.round(best / 2), Math.round(best * 2)]) {
      for (const { name, pid, pairs } of contenders) {
        if (name === 'floor' && rate > best) continue
        const result = await runExchange(pairs, { ...plan, serverPid: pid, rate, receipts: true })
        rows.push(exchangeRow([result], { server: name, window: `${rate}/s due`, receipts: 'yes' }))
      }
    }
    for (const { pairs } of contenders) closePairs(pairs)
    await Promise.all([server.stop(), floor.stop()])
    return { settings: { pairs: PAIRS, payloadBytes: PAYLOAD_BYTES, rounds: ROUNDS, seconds }, rows }
  },
}
