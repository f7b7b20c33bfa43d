// `npm run bench -- soak`: an hour at a third of the maximum rate, while clients connect and disconnect and
// old messages expire. The relay's memory, file descriptors and files must stop growing.
import { Database } from 'bun:sqlite'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { befriend, WireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { makeAccounts } from './load/accounts.ts'
import { runExchange } from './load/exchange.ts'
import { exchangeRow } from './load/exchange-row.ts'
import { fillStore } from './load/filled-store.ts'
import { closePairs, connect, type Pair } from './load/pairs.ts'
import { RawSocket } from './load/raw-socket.ts'
import { residentKib } from './measure.ts'
import { type MeasuredServer, startMeasuredRelay } from './server-process.ts'

const SLICES = 12
const PAIRS = 50
const PAYLOAD_BYTES = 400
const VISITORS = 500
const VISITS_A_SECOND = 20
const LONGEST_VISIT_MS = 20_000
/** Messages that are stored before the run and expire during it. */
const OLD = { accounts: 100_000, messages: 1_000_000 }
const DAY_MS = 86_400_000

export const soak: Bench = {
  means: 'an hour at a third of the maximum rate while clients connect and disconnect (--minutes)',
  run: async ({ minutes }) => {
    const server = await startMeasuredRelay({ LIMIT_MESSAGE_LIFE_DAYS: '1' })
    const pairs = await fillAndConnect(server, minutes)
    const plan = { serverPid: server.pid, warmUpSeconds: 1, payloadBytes: PAYLOAD_BYTES, receipts: true }
    const { perSecond: most } = await runExchange(pairs, { ...plan, seconds: 5, window: 20 })
    const rate = Math.round(most / 3)
    const visits = await startVisits(server)
    const rows: Record<string, string | number>[] = [{ minute: 0, ...(await readUsage(server)) }]
    let sent = 0
    for (let slice = 1; slice <= SLICES; slice++) {
      const seconds = (minutes * 60) / SLICES
      const result = await runExchange(pairs, { ...plan, warmUpSeconds: 0, seconds, rate })
      sent += result.ackMs.length
      const row = { ...exchangeRow([result], { minute: Math.round((slice * minutes * 10) / SLICES) / 10 }) }
      rows.push({ ...row, ...(await readUsage(server)), visits: visits.count() })
      console.log(JSON.stringify(rows.at(-1)))
    }
    visits.stop()
    closePairs(pairs)
    await Bun.sleep(30_000)
    rows.push({ minute: 'all gone', ...(await readUsage(server)) })
    await server.stop()
    const settings = {
      pairs: PAIRS,
      payloadBytes: PAYLOAD_BYTES,
      minutes,
      'maximum/s': Math.round(most),
      rate,
      sent,
    }
    return { settings: { ...settings, visitsASecond: VISITS_A_SECOND, ...OLD }, rows }
  },
}

async function fillAndConnect(server: MeasuredServer, minutes: number): Promise<Pair[]> {
  await server.between((folder) => {
    const oldest = Date.now() - DAY_MS + 60_000
    const sentBetween = [oldest, oldest + minutes * 45_000] as const
    fillStore(folder, { ...OLD, payloadBytes: PAYLOAD_BYTES, sentBetween, pairs: [] })
  })
  const pairs: Pair[] = []
  for (let index = 0; index < PAIRS; index++) {
    const [from, to] = [new WireAccount(server.url), new WireAccount(server.url)]
    for (const account of [from, to]) {
      await account.register()
      await account.login()
    }
    const conv = await befriend(from, to)
    const ends = { from: await connect(from), to: await connect(to) }
    pairs.push({ ...ends, fromAlias: from.alias, toAlias: to.alias, conv })
  }
  return pairs
}

/**
 * Opens connections and ends each after a while: 20% stop reading and later reset TCP, 20% reset TCP, 20% end
 * TCP without a close frame, and 40% send a close frame.
 */
async function startVisits(server: MeasuredServer): Promise<{ count(): number; stop(): void }> {
  const visitors = await makeAccounts(server.url, VISITORS)
  let count = 0
  const visit = async (account: WireAccount): Promise<void> => {
    const socket = await RawSocket.open(`${account.base}/ws?user_uuid=${account.uuid}&token=${account.token}`)
    count += 1
    await Bun.sleep(Math.random() * LONGEST_VISIT_MS)
    const how = Math.random()
    if (how < 0.2) {
      socket.pause()
      await Bun.sleep(Math.random() * LONGEST_VISIT_MS)
    }
    if (how < 0.4) socket.drop()
    else if (how < 0.6) socket.close()
    else socket.leave()
  }
  const timer = setInterval(() => {
    const account = visitors[Math.floor(Math.random() * VISITORS)]
    // A connection may end early because the same account connects again. That is part of the load, not a
    // failure.
    if (account) visit(account).catch(() => undefined)
  }, 1000 / VISITS_A_SECOND)
  return { count: () => count, stop: () => clearInterval(timer) }
}

/** The relay's current memory, file descriptors, files and stored messages. */
async function readUsage({ pid, folder }: MeasuredServer): Promise<Record<string, number>> {
  const mib = (bytes: number): number => Math.round((bytes / 2 ** 20) * 10) / 10
  const sizeOf = async (name: string): Promise<number> => mib((await stat(join(folder, name))).size)
  const database = new Database(join(folder, 'sotto.db'), { readonly: true })
  const number = (query: string): number => {
    // A statement that is not finalized keeps reading, and the relay's log could not be reset.
    using statement = database.prepare(query)
    return Number(Object.values(statement.get() ?? {})[0])
  }
  const [waiting, free] = [
    number('SELECT sum(pending_count) FROM mailboxes'),
    number('PRAGMA freelist_count') * number('PRAGMA page_size'),
  ]
  database.close(true)
  return {
    'resident MiB': Math.round(residentKib(pid) / 1024),
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    'database MiB': await sizeOf('sotto.db'),
    'of it free MiB': mib(free),
    'log MiB': await sizeOf('sotto.db-wal'),
    waiting,
  }
}
