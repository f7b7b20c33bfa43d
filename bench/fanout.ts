// `npm run bench -- fanout`: one post to 5,000 connected subscribers, against the runtime's bare publish in the same run.
import { type WireAccount, wireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect } from './load/pairs.ts'
import { RawSocket } from './load/raw-socket.ts'
import { cpuMs, median } from './measure.ts'
import { type MeasuredServer, startFanoutFloor, startMeasuredRelay } from './server-process.ts'

const SUBSCRIBERS = 5000
const ROUNDS = 5
const CONTENT_BYTES = 400

interface Contender {
  readonly name: string
  readonly server: MeasuredServer
  readonly sockets: readonly RawSocket[]
  post(): Promise<void>
}

export const fanout: Bench = {
  means: 'one post to 5,000 connected subscribers, against the runtime’s bare publish',
  run: async ({ seconds }) => {
    const contenders = [await relay(), await floor()]
    const rates = new Map<string, { perSecond: number; cpuUs: number; lastMs: number }[]>()
    for (let round = 0; round < ROUNDS; round++) {
      for (const contender of contenders) {
        const result = await measure(contender, seconds)
        rates.set(contender.name, [...(rates.get(contender.name) ?? []), result])
      }
    }
    for (const { server, sockets } of contenders) {
      for (const socket of sockets) socket.close()
      await server.stop()
    }
    const rows = [...rates].map(([server, results]) => ({
      server,
      'deliveries/s': Math.round(median(results.map(({ perSecond }) => perSecond))),
      'CPU µs a delivery': Math.round(median(results.map(({ cpuUs }) => cpuUs)) * 100) / 100,
      'until the last has it, ms': Math.round(median(results.map(({ lastMs }) => lastMs)) * 10) / 10,
    }))
    return {
      settings: { subscribers: SUBSCRIBERS, contentBytes: CONTENT_BYTES, rounds: ROUNDS, seconds },
      rows,
    }
  },
}

/** One post after the other, each once everybody has the one before. */
async function measure({ server, sockets, post }: Contender, seconds: number) {
  let [received, posts] = [0, 0]
  let hasEverybody = (): void => undefined
  for (const socket of sockets) {
    socket.onFrame = () => {
      received += 1
      if (received === posts * sockets.length) hasEverybody()
    }
  }
  const before = { at: performance.now(), cpu: cpuMs(server.pid) }
  while (performance.now() - before.at < seconds * 1000) {
    posts += 1
    const through = new Promise<void>((resolve) => {
      hasEverybody = resolve
    })
    await Promise.all([post(), through])
  }
  const ms = performance.now() - before.at
  const cpuUs = ((cpuMs(server.pid) - before.cpu) * 1000) / received
  return { perSecond: (received / ms) * 1000, cpuUs, lastMs: ms / posts }
}

async function relay(): Promise<Contender> {
  const server = await startMeasuredRelay({ LIMIT_IDLE_SECONDS: '900' })
  const owner = await wireAccount(server.url)
  const { body } = await owner.post('/channels', { name: 'Loud' })
  const sockets: RawSocket[] = []
  await inParallel(await makeAccounts(server.url, SUBSCRIBERS), 20, async (account: WireAccount) => {
    await account.bare('POST', `/channels/${body.channel_id}/subscribe`)
    sockets.push(await connect(account))
  })
  const content = 'x'.repeat(CONTENT_BYTES)
  const post = async (): Promise<void> => {
    await owner.post(`/channels/${body.channel_id}/posts`, { content })
  }
  return { name: 'relay', server, sockets, post }
}

/** Bun's own publish: a request makes it publish a text as long as the relay's frame. */
async function floor(): Promise<Contender> {
  const server = await startFanoutFloor()
  const sockets: RawSocket[] = []
  await inParallel(
    Array.from({ length: SUBSCRIBERS }, (_, number) => number),
    20,
    async () => {
      sockets.push(await RawSocket.open(`${server.url}/ws`))
    },
  )
  const post = async (): Promise<void> => {
    await (await fetch(`${server.url}/post`, { method: 'POST' })).text()
  }
  return { name: 'floor', server, sockets, post }
}
