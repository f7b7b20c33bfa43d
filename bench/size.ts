// `npm run bench -- size`: the cost of a large store. Compares a relay with an empty store with one whose
// store has ten million messages and a million accounts, alternately in the same run.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { befriend, WireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { runExchange } from './load/exchange.ts'
import { exchangeRow } from './load/exchange-row.ts'
import { fillStore } from './load/filled-store.ts'
import { closePairs, connect, type Pair } from './load/pairs.ts'
import { residentKib } from './measure.ts'
import { type MeasuredServer, startMeasuredRelay } from './server-process.ts'

const ROUNDS = 3
const PAYLOAD_BYTES = 400
const FULL = { accounts: 1_000_000, messages: 10_000_000 }
/**
 * Few pairs with many messages in flight, and many pairs with one each, which touch many places of the store.
 */
const LOADS = [
  { pairs: 50, window: 20 },
  { pairs: 1000, window: 1 },
]
const MOST_PAIRS = 1000
const OPEN_LOADS = [
  { pairs: 50, rate: 15_000 },
  { pairs: 1000, rate: 200 },
]
/** Pairs that are not part of the current load stay connected and send nothing. */
const LONG_IDLE = { LIMIT_IDLE_SECONDS: '900' }

interface Contender {
  readonly name: string
  readonly server: MeasuredServer
  readonly pairs: readonly Pair[]
}

export const size: Bench = {
  means: 'an empty store against one with 10 million messages and a million accounts',
  run: async ({ seconds }) => {
    const contenders = [await fullStore(), await emptyStore()]
    const rows: Record<string, string | number>[] = []
    for (const load of LOADS) {
      rows.push(...(await measureAlternately(contenders, load.pairs, { seconds, window: load.window })))
    }
    for (const { pairs, rate } of OPEN_LOADS)
      rows.push(...(await measureAlternately(contenders, pairs, { seconds, rate })))
    const settings: Record<string, string | number> = {
      ...FULL,
      payloadBytes: PAYLOAD_BYTES,
      rounds: ROUNDS,
      seconds,
    }
    for (const { name, server, pairs } of contenders) {
      closePairs(pairs)
      const file = await stat(join(server.folder, 'sotto.db'))
      settings[`${name} store, MiB`] = Math.round(file.size / 2 ** 20)
      settings[`${name} store, resident MiB`] = Math.round(residentKib(server.pid) / 1024)
      await server.stop()
    }
    return { settings, rows }
  },
}

async function measureAlternately(
  contenders: readonly Contender[],
  count: number,
  how: { seconds: number; window?: number; rate?: number },
): Promise<Record<string, string | number>[]> {
  const results = new Map(
    contenders.map((contender) => [contender.name, [] as Awaited<ReturnType<typeof runExchange>>[]]),
  )
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, server, pairs } of contenders) {
      const plan = {
        serverPid: server.pid,
        warmUpSeconds: 1,
        payloadBytes: PAYLOAD_BYTES,
        receipts: true,
        ...how,
      }
      results.get(name)?.push(await runExchange(pairs.slice(0, count), plan))
    }
  }
  const load = how.rate === undefined ? `${how.window} in flight` : `${how.rate}/s due`
  return [...results].map(([store, of]) => exchangeRow(of, { store, pairs: count, load }))
}

async function emptyStore(): Promise<Contender> {
  const server = await startMeasuredRelay(LONG_IDLE)
  const people = makePairs(server.url)
  const convs: string[] = []
  for (const [one, other] of people) {
    for (const account of [one, other]) {
      await account.register()
      await account.login()
    }
    convs.push(await befriend(one, other))
  }
  return { name: 'empty', server, pairs: await connectAll(people, convs) }
}

async function fullStore(): Promise<Contender> {
  const server = await startMeasuredRelay(LONG_IDLE)
  const people = makePairs(server.url)
  let convs: string[] = []
  const startedAt = performance.now()
  await server.between((folder) => {
    const now = Date.now()
    const filling = { ...FULL, payloadBytes: PAYLOAD_BYTES, sentBetween: [now - 3_600_000, now] as const }
    convs = fillStore(folder, { ...filling, pairs: people })
  })
  console.log(`filled in ${Math.round((performance.now() - startedAt) / 1000)} s`)
  for (const account of people.flat()) await account.login()
  return { name: 'full', server, pairs: await connectAll(people, convs) }
}

function makePairs(url: string): (readonly [WireAccount, WireAccount])[] {
  return Array.from({ length: MOST_PAIRS }, () => [new WireAccount(url), new WireAccount(url)] as const)
}

async function connectAll(
  people: readonly (readonly [WireAccount, WireAccount])[],
  convs: readonly string[],
): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const [index, [one, other]] of people.entries()) {
    pairs.push({
      from: await connect(one),
      to: await connect(other),
      fromAlias: one.alias,
      toAlias: other.alias,
      conv: convs[index] ?? '',
    })
  }
  return pairs
}
