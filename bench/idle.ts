// `npm run bench -- idle`: memory of an authenticated connection on which nothing happens.
import type { Bench } from './bench.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect } from './load/pairs.ts'
import type { RawSocket } from './load/raw-socket.ts'
import { residentKib } from './measure.ts'
import { startMeasuredRelay } from './server-process.ts'

const CONNECTIONS = 9000
const SETTLE_MS = 20_000

export const idle: Bench = {
  means: 'memory of an authenticated idle connection',
  run: async () => {
    const server = await startMeasuredRelay()
    const accounts = await makeAccounts(server.url, CONNECTIONS)
    await Bun.sleep(SETTLE_MS)
    const before = residentKib(server.pid)
    const sockets: RawSocket[] = []
    await inParallel(accounts, 50, async (account) => {
      sockets.push(await connect(account))
    })
    const atOnce = residentKib(server.pid)
    await Bun.sleep(SETTLE_MS)
    const after = residentKib(server.pid)
    for (const socket of sockets) socket.close()
    await server.stop()
    const each = (kib: number): number => Math.round(((kib - before) / CONNECTIONS) * 100) / 100
    const rows = [
      { when: 'right after connecting', 'resident KiB': atOnce, 'KiB a connection': each(atOnce) },
      { when: `${SETTLE_MS / 1000} s later`, 'resident KiB': after, 'KiB a connection': each(after) },
    ]
    return { settings: { connections: CONNECTIONS, 'resident KiB before': before }, rows }
  },
}
