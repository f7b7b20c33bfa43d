// `fan-out`: one post of a channel whose subscribers are connected to one node, or half to each of two.
import { SQL } from 'bun'
import type { Bench } from '../bench.ts'
import { median, percentile, ratio } from '../measure.ts'
import { startCrowd } from './crowd.ts'
import { type Machine, preparePostgres, processesFor } from './machines.ts'
import { type Member, populate } from './population.ts'

const POSTS = 5
const CONTENT = 'x'.repeat(400)
/** As many as one process can have here, so that one node can be compared with two. */
const COMPARED = 16_000

export const fanOut: Bench = {
  means: 'one post to subscribers at one node, at two, and to 50,000 at two',
  run: async () => ({
    settings: { posts: POSTS, contentBytes: CONTENT.length },
    rows: [
      await measureFanOut(1, COMPARED),
      await measureFanOut(2, COMPARED),
      await measureFanOut(2, 50_000),
    ],
  }),
}

/** Posts to subscribers who are connected to all nodes in turn. */
export async function measureFanOut(nodes: number, subscribers: number) {
  const processes = processesFor(subscribers / nodes)
  await using postgres = await preparePostgres(nodes, processes)
  const { members, friends } = await populate(postgres.databaseUrl, subscribers, 1)
  const machines = await postgres.start()
  const urls = machines.flatMap(({ urls }) => urls)
  const owner = friends[0]?.from
  if (!owner) throw new Error('there is no owner')
  const channel = await call(urls[0], owner, '/channels', { name: 'Loud' })
  await subscribeAll(postgres.databaseUrl, channel.channel_id, members)
  const sum = (of: (machine: Machine) => number): number =>
    machines.reduce((all, machine) => all + of(machine), 0)
  const emptyKib = sum((machine) => machine.residentKib())
  const crowd = await startCrowd(members, urls)
  const fullKib = sum((machine) => machine.residentKib())

  const times: number[] = []
  const lasts: number[] = []
  const cpuBefore = sum((machine) => machine.cpuMs())
  for (let n = 0; n < POSTS; n++) {
    const delivered = crowd.post()
    const postedAt = performance.timeOrigin + performance.now()
    await call(urls[0], owner, `/channels/${channel.channel_id}/posts`, { content: CONTENT })
    const ms = (await delivered).map((at) => at - postedAt)
    times.push(median(ms))
    lasts.push(percentile(ms, 100))
  }
  const cpuMs = sum((machine) => machine.cpuMs()) - cpuBefore
  await crowd.stop()
  return {
    nodes,
    'processes each': processes,
    subscribers,
    'median delivery, ms': Math.round(median(times)),
    'last delivery, ms': Math.round(median(lasts)),
    'CPU µs a delivery': ratio((cpuMs * 1000) / (subscribers * POSTS)),
    'KiB a connection': ratio((fullKib - emptyKib) / subscribers),
    'resident MiB a process': Math.round(fullKib / 1024 / nodes / processes),
  }
}

async function call(url: string | undefined, { token, address }: Member, path: string, body: unknown) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-forwarded-for': address,
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return await response.json()
}

/** Written directly, because subscribing over the wire takes longer than the measurement. */
async function subscribeAll(url: string, channelId: string, members: readonly Member[]): Promise<void> {
  await using sql = new SQL(url, { max: 1 })
  const aliases = sql.array(
    members.map(({ alias }) => alias),
    'TEXT',
  )
  await sql`
    INSERT INTO channel_subscriptions (account_id, channel, created_at)
    SELECT accounts.id, channels.id, 0 FROM accounts, channels
    WHERE channels.channel_id = ${channelId} AND accounts.alias_id = ANY(${aliases})`
  await sql`UPDATE channels SET subscriber_count = ${members.length} WHERE channel_id = ${channelId}`
}
