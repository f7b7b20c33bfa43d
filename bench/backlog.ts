// `npm run bench -- backlog`: what waits for those who come back, many for one and some for many, and what memory it
// takes to hand it over.
import { befriend } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect, type Pair } from './load/pairs.ts'
import { RawSocket } from './load/raw-socket.ts'
import { cpuMs, residentKib } from './measure.ts'
import { type MeasuredServer, startMeasuredRelay } from './server-process.ts'

const PAYLOAD = Buffer.alloc(300, 7).toString('base64')
const IN_FLIGHT = 200
const MESSAGE = Buffer.from('{"type":"msg"')
const END = Buffer.from('{"type":"sync_end"')

export const backlog: Bench = {
  means: '100,000 stored messages to one client, and 1,000 clients with 100 each at once',
  run: async () => {
    const rows = [
      await measure('one client, 100,000 messages', { clients: 1, messages: 100_000 }),
      await measure('1,000 clients, 100 messages each', { clients: 1000, messages: 100 }),
    ]
    return { settings: { payloadBytes: PAYLOAD.length }, rows }
  },
}

async function measure(what: string, size: { clients: number; messages: number }) {
  const server = await startMeasuredRelay()
  const senders = await makeAccounts(server.url, size.clients)
  const receivers = await makeAccounts(server.url, size.clients)
  for (const [index, from] of senders.entries()) {
    const to = receivers[index]
    if (!to) continue
    const conv = await befriend(from, to)
    const socket = await connect(from)
    await store({ from: socket, toAlias: to.alias, conv }, size.messages)
    socket.close()
  }
  await Bun.sleep(5000)
  const memory = watchMemory(server)
  const before = { at: performance.now(), server: cpuMs(server.pid), load: cpuMs(process.pid) }
  let received = 0
  await inParallel(receivers, size.clients, async (account) => {
    const count = await drain(`${account.base}/ws?user_uuid=${account.uuid}&token=${account.token}`)
    received += count
  })
  const ms = performance.now() - before.at
  const [busy, load] = [(cpuMs(server.pid) - before.server) / ms, (cpuMs(process.pid) - before.load) / ms]
  const extra = memory.stop()
  await server.stop()
  return {
    what,
    received,
    'messages/s': Math.round((received / ms) * 1000),
    'extra memory MiB': Math.round(extra / 1024),
    bottleneck: busy > 0.9 ? 'server' : load > 0.9 ? 'load' : 'neither',
  }
}

/** Sends so many messages and waits for the last `ack`. */
async function store(
  { from, toAlias, conv }: Pick<Pair, 'from' | 'toAlias' | 'conv'>,
  count: number,
): Promise<void> {
  let sent = 0
  let acked = 0
  const send = (): void => {
    if (sent === count) return
    sent += 1
    from.send(
      `{"type":"msg","id":"m${sent}","to":"${toAlias}","conv_id":"${conv}","crypto_v":1,"payload":"${PAYLOAD}"}`,
    )
  }
  await new Promise<void>((resolve) => {
    from.onFrame = (bytes, start) => {
      if (bytes.toString('latin1', start, start + 13) !== '{"type":"ack"') return
      acked += 1
      if (acked === count) resolve()
      send()
    }
    for (let n = 0; n < IN_FLIGHT; n++) send()
  })
}

/** Connects and counts what comes until the backlog is through. */
async function drain(url: string): Promise<number> {
  let count = 0
  let end = (): void => undefined
  const through = new Promise<void>((resolve) => {
    end = resolve
  })
  const socket = await RawSocket.open(url, (bytes, start) => {
    if (bytes.compare(MESSAGE, 0, MESSAGE.length, start, start + MESSAGE.length) === 0) count += 1
    else if (bytes.compare(END, 0, END.length, start, start + END.length) === 0) end()
  })
  await through
  socket.close()
  return count
}

function watchMemory({ pid }: MeasuredServer): { stop(): number } {
  const before = residentKib(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentKib(pid))
  }, 20)
  return {
    stop: () => {
      clearInterval(timer)
      return most - before
    },
  }
}
