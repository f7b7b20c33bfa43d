// `npm run bench -- backlog`: how fast a relay sends stored messages to clients that reconnect, and how much
// memory that takes. Once one client has a large backlog, and once many clients have a small one each. The
// floor is the same runtime that sends the same bytes from memory.
import type { WireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { measureAlternately, rowsAgainstFloor } from './contest.ts'
import { makeAccounts } from './load/accounts.ts'
import { backlogs } from './load/backlogs.ts'
import { storeMessages, WAITING_PAYLOAD } from './load/waiting.ts'
import { watchMemory } from './measure.ts'
import { type MeasuredServer, startLoginFloor, startMeasuredRelay } from './server-process.ts'

const ROUNDS = 3
const SETTLE_MS = 5000

export const backlog: Bench = {
  means: '100,000 stored messages to one client, and 1,000 clients with 100 each at once, against the floor',
  run: async ({ seconds }) => {
    const rows = [
      ...(await measure('one client, 100,000 messages', { clients: 1, messages: 100_000, seconds })),
      ...(await measure('1,000 clients, 100 messages each', { clients: 1000, messages: 100, seconds })),
    ]
    return { settings: { payloadBytes: WAITING_PAYLOAD.length, rounds: ROUNDS, seconds }, rows }
  },
}

async function measure(what: string, size: { clients: number; messages: number; seconds: number }) {
  const [relay, floor] = [await startMeasuredRelay(), await startLoginFloor(size.messages)]
  const receivers = await makeAccounts(relay.url, size.clients)
  for (const [index, from] of (await makeAccounts(relay.url, size.clients)).entries()) {
    const to = receivers[index]
    if (to) await storeMessages(from, to, size.messages)
  }
  const servers = new Map<string, readonly [MeasuredServer, readonly WireAccount[]]>([
    ['relay', [relay, receivers]],
    ['floor', [floor, await makeAccounts(floor.url, size.clients)]],
  ])
  await Bun.sleep(SETTLE_MS)
  const memory = new Map([...servers].map(([name, [server]]) => [name, watchMemory(server.pid)]))
  const contenders = [...servers].map(([name, [server, accounts]]) => backlogs(name, server, accounts))
  const results = await measureAlternately(contenders, { rounds: ROUNDS, seconds: size.seconds })
  const rows = rowsAgainstFloor(results, { unit: 'message', units: 'messages' }).map((row) => ({
    what,
    ...row,
    'extra memory MiB': Math.round((memory.get(row.server)?.() ?? 0) / 1024),
  }))
  for (const contender of contenders) await contender.close()
  return rows
}
