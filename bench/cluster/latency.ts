// `latency`: the time from sending a message to its delivery, one message at a time, with both clients on one
// node and on two nodes of the same cluster, with each bus. The load is one process, so one clock measures
// all.
import type { Bench } from '../bench.ts'
import { closePairs, type Pair, relayPairs } from '../load/pairs.ts'
import { median, percentile } from '../measure.ts'
import { type Carrier, startDatabase } from './nodes.ts'

const PAYLOAD = Buffer.alloc(300, 7).toString('base64')
const WARM_UP = 200
const TARGET_MS = 2

/** The length of a run. */
export interface LatencySizes {
  readonly buses: readonly Carrier[]
  readonly rounds: number
  /** Messages of each lane in each round. */
  readonly messages: number
}

interface Lane {
  readonly bus: Carrier
  readonly clients: 'on one node' | 'on two nodes'
  readonly pair: Pair
  readonly rounds: number[][]
}

export const latency: Bench = {
  means: 'from sending to delivery, one message at a time, on one node and across two',
  run: async () => {
    const sizes = { rounds: 60, messages: 40 }
    const rows = await measureLatency({ ...sizes, buses: ['PostgreSQL', 'NATS'] })
    return { settings: { ...sizes, payloadBytes: PAYLOAD.length }, rows }
  },
}

/** Measures all lanes in each round, so that a drift of the machine's speed affects all of them. */
export async function measureLatency({ buses, rounds, messages }: LatencySizes) {
  await using database = await startDatabase()
  const lanes: Lane[] = []
  for (const bus of buses) {
    const [one, two] = await database.startNodes(2, { bus })
    if (!one || !two) throw new Error('a node is missing')
    const [near, far] = [await relayPairs(one.url, 1), await relayPairs(one.url, 1, two.url)]
    for (const pair of near) lanes.push({ bus, clients: 'on one node', pair, rounds: [] })
    for (const pair of far) lanes.push({ bus, clients: 'on two nodes', pair, rounds: [] })
  }
  for (const { pair } of lanes) await deliverOneByOne(pair, Math.min(WARM_UP, messages))
  for (let round = 0; round < rounds; round++)
    for (const lane of round % 2 === 0 ? lanes : lanes.toReversed())
      lane.rounds.push(await deliverOneByOne(lane.pair, messages))
  closePairs(lanes.map(({ pair }) => pair))
  return lanes.map(({ bus, clients, rounds: times }) => {
    const near = lanes.find((lane) => lane.bus === bus && lane.clients === 'on one node')
    // Of each round by itself, because the two were measured one after the other, and the machine's speed
    // drifts.
    const added = median(times.map((of, round) => median(of) - median(near?.rounds[round] ?? [])))
    return {
      bus,
      clients,
      'p50 ms': round2(median(times.flat())),
      'p99 ms': round2(percentile(times.flat(), 99)),
      'more at p50, ms': clients === 'on one node' ? '' : round2(added),
      [`target: at most ${TARGET_MS} ms more`]:
        clients === 'on one node' ? '' : added <= TARGET_MS ? 'kept' : 'missed',
    }
  })
}

/**
 * Sends each message when the sender has the acknowledgement and the receipt of the one before, so that no
 * other work is under way. @returns the times until delivery, in milliseconds
 */
async function deliverOneByOne({ from, to, fromAlias, toAlias, conv }: Pair, count: number) {
  const times: number[] = []
  let [sentAt, left] = [0, 0]
  let done = (): void => undefined
  from.onFrame = (bytes, start, end) => {
    const text = bytes.toString('latin1', start, end)
    if (!/^\{"type":"(?:ack|delivered)"/.test(text)) return
    left -= 1
    if (left === 0) done()
  }
  to.onFrame = (bytes, start, end) => {
    const text = bytes.toString('latin1', start, end)
    if (!text.startsWith('{"type":"msg"')) return
    times.push(performance.now() - sentAt)
    const { seq } = JSON.parse(text)
    to.send(`{"type":"delivered","conv_id":"${conv}","seq":${seq},"to":"${fromAlias}"}`)
  }
  for (let n = 0; n < count; n++) {
    const id = crypto.randomUUID()
    left = 2
    await new Promise<void>((resolve) => {
      done = resolve
      sentAt = performance.now()
      from.send(
        `{"type":"msg","id":"${id}","to":"${toAlias}","conv_id":"${conv}","crypto_v":1,"payload":"${PAYLOAD}"}`,
      )
    })
  }
  return times
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
