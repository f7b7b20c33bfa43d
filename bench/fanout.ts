// `npm run bench -- fanout`: one post to 5,000 connected subscribers. The floor in the same run is the
// runtime's own publish.
import { type WireAccount, wireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { type Contender, measureAlternately, measureWork, medianOf, rowsAgainstFloor } from './contest.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect } from './load/pairs.ts'
import { RawSocket } from './load/raw-socket.ts'
import { type MeasuredServer, startFanoutFloor, startMeasuredRelay } from './server-process.ts'

const SUBSCRIBERS = 5000
const ROUNDS = 5
const CONTENT_BYTES = 400

export const fanout: Bench = {
  means: 'one post to 5,000 connected subscribers, against the runtime’s bare publish',
  run: async ({ seconds }) => {
    const contenders = [await relay(), await floor()]
    const results = await measureAlternately(contenders, { rounds: ROUNDS, seconds })
    for (const contender of contenders) await contender.close()
    const rows = rowsAgainstFloor(results, { unit: 'delivery', units: 'deliveries' }).map((row) => ({
      ...row,
      'until the last has it, ms':
        Math.round((SUBSCRIBERS * 10_000) / medianOf(results.get(row.server) ?? [], 'perSecond')) / 10,
    }))
    return {
      settings: { subscribers: SUBSCRIBERS, contentBytes: CONTENT_BYTES, rounds: ROUNDS, seconds },
      rows,
    }
  },
}

/**
 * Posts one after the other; each post waits until all subscribers have the previous one. One unit is one
 * delivery.
 */
function posting(
  name: string,
  server: MeasuredServer,
  sockets: readonly RawSocket[],
  post: () => Promise<void>,
): Contender {
  const run = async (seconds: number): Promise<number> => {
    let [received, posts] = [0, 0]
    let onLastDelivery = (): void => undefined
    for (const socket of sockets) {
      socket.onFrame = () => {
        received += 1
        if (received === posts * sockets.length) onLastDelivery()
      }
    }
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) {
      posts += 1
      const delivered = new Promise<void>((resolve) => {
        onLastDelivery = resolve
      })
      await Promise.all([post(), delivered])
    }
    return received
  }
  return {
    name,
    measure: (seconds) => measureWork(server.pid, () => run(seconds)),
    close: async () => {
      for (const socket of sockets) socket.close()
      await server.stop()
    },
  }
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
  return posting('relay', server, sockets, post)
}

/** Bun's own publish: each request makes it publish a text as long as the relay's frame. */
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
  return posting('floor', server, sockets, post)
}
