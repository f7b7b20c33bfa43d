// `storm`: a node with 20,000 connections is killed, and its clients come back to the other node, where some
// hundred pairs go on exchanging messages.
import type { Bench } from '../bench.ts'
import { runExchange } from '../load/exchange.ts'
import { type Pair, untilSynced } from '../load/pairs.ts'
import { median, percentile, ratio } from '../measure.ts'
import { startCrowd } from './crowd.ts'
import { preparePostgres, processesFor } from './machines.ts'
import { type Friends, type Member, populate } from './population.ts'

const BEFORE_SECONDS = 5

export const storm: Bench = {
  means: 'a node with 20,000 connections dies, and its clients come to the other one',
  run: () => measureStorm(20_000, { pairs: 200, rate: 200 }),
}

/**
 * @param connections how many clients the node has that dies
 * @param others pairs at the other node, and the messages that they send a second, all together
 */
export async function measureStorm(
  connections: number,
  { pairs: count, rate }: { pairs: number; rate: number },
) {
  const processes = processesFor(connections + 2 * count)
  await using postgres = await preparePostgres(2, processes)
  const { members, friends } = await populate(postgres.databaseUrl, connections, count)
  const [dying, living] = await postgres.start()
  if (!dying || !living) throw new Error('two nodes were to start')
  const crowd = await startCrowd(members, dying.urls)
  const pairs = await Promise.all(friends.map((each, index) => connectPair(each, living.urls, index)))
  const serverPid = living.processes[0]?.pid ?? 0
  const plan = { serverPid, payloadBytes: 400, rate, receipts: true }
  const before = await runExchange(pairs, { ...plan, warmUpSeconds: 2, seconds: BEFORE_SECONDS })

  const coming = crowd.storm(living.urls)
  const exchanging = runExchange(pairs, { ...plan, warmUpSeconds: 0, seconds: 1, until: coming })
  const cpuBefore = { relay: living.cpuMs(), database: postgres.databaseCpuMs() }
  const startedAt = Date.now()
  for (const { pid } of dying.processes) process.kill(pid, 'SIGKILL')
  const { backAt, failures } = await coming
  const cpu = {
    relay: living.cpuMs() - cpuBefore.relay,
    database: postgres.databaseCpuMs() - cpuBefore.database,
  }
  const during = await exchanging
  await crowd.stop()

  const seconds = backAt.map((at) => (at - startedAt) / 1000)
  const inMs = (values: readonly number[]): string =>
    [50, 99, 100].map((percent) => percentile(values, percent).toFixed(1)).join(' / ')
  const row = (figure: string, value: string | number) => ({ figure, value })
  return {
    settings: { connections, pairs: count, messagesPerSecond: rate, processesEach: processes },
    rows: [
      row('half of the clients are back after, s', ratio(median(seconds))),
      row('all are back after, s', ratio(percentile(seconds, 100))),
      row('delivery to the others before, p50 / p99 / most, ms', inMs(before.arrivalMs)),
      row('delivery to the others meanwhile, p50 / p99 / most, ms', inMs(during.arrivalMs)),
      row('messages of the others that did not arrive', before.lost + during.lost),
      row('relay, CPU µs a client that comes back', Math.round((cpu.relay * 1000) / connections)),
      row('PostgreSQL, CPU µs a client that comes back', Math.round((cpu.database * 1000) / connections)),
      ...Object.entries(failures).map(([reason, times]) => row(`attempts that failed: ${reason}`, times)),
    ],
  }
}

async function connectPair(
  { from, to, conv }: Friends,
  nodes: readonly string[],
  index: number,
): Promise<Pair> {
  const open = ({ uuid, token, address }: Member, at: number) =>
    untilSynced(
      `${nodes[at % nodes.length]}/ws?user_uuid=${uuid}&token=${token}`,
      `X-Forwarded-For: ${address}\r\n`,
    )
  return {
    from: await open(from, index),
    to: await open(to, index + 1),
    fromAlias: from.alias,
    toAlias: to.alias,
    conv,
  }
}
