// `npm run bench -- relay`: durable throughput and latency of the whole exchange, against the floor in the same run.

import type { Bench } from './bench.ts'
import { type ExchangeResult, runExchange } from './load/exchange.ts'
import { closePairs, floorPairs, type Pair, relayPairs } from './load/pairs.ts'
import { exchangeRow } from './measure.ts'
import { startFloor, startMeasuredRelay } from './server-process.ts'

const PAIRS = 50
const PAYLOAD_BYTES = 400
const ROUNDS = 3
const WINDOWS = [1, 5, 20, 50]

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
    const plan = (pid: number) => ({ serverPid: pid, seconds, warmUpSeconds: 1, payloadBytes: PAYLOAD_BYTES })
    let best = 0
    for (const window of WINDOWS) {
      for (const receipts of [true, false]) {
        const results = new Map<string, ExchangeResult[]>()
        // In turn, round by round, so that a machine whose speed drifts does so for both.
        for (let round = 0; round < ROUNDS; round++) {
          for (const { name, pid, pairs } of contenders) {
            const result = await runExchange(pairs, { ...plan(pid), window, receipts })
            results.set(name, [...(results.get(name) ?? []), result])
          }
        }
        for (const { name } of contenders) {
          const of = results.get(name) ?? []
          const row = exchangeRow(of, { server: name, window, receipts: receipts ? 'yes' : 'no' })
          if (name === 'relay' && receipts) best = Math.max(best, Number(row['messages/s']))
          rows.push(row)
        }
      }
    }
    for (const rate of [200, Math.round(best / 2), Math.round(best * 2)]) {
      for (const { name, pid, pairs } of contenders) {
        if (name === 'floor' && rate > best) continue
        const result = await runExchange(pairs, { ...plan(pid), rate, receipts: true })
        rows.push(exchangeRow([result], { server: name, window: `${rate}/s due`, receipts: 'yes' }))
      }
    }
    for (const { pairs } of contenders) closePairs(pairs)
    await Promise.all([server.stop(), floor.stop()])
    return { settings: { pairs: PAIRS, payloadBytes: PAYLOAD_BYTES, rounds: ROUNDS, seconds }, rows }
  },
}
