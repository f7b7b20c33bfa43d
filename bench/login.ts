// `npm run bench -- login`: complete logins (challenge, verify, ticket, upgrade), and a storm of reconnecting clients.
import type { WireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect } from './load/pairs.ts'
import { RawSocket } from './load/raw-socket.ts'
import { cpuMs } from './measure.ts'
import { startMeasuredRelay } from './server-process.ts'

const ACCOUNTS = 5000
const AT_ONCE = 64

export const login: Bench = {
  means: 'complete logins a second, and 5,000 clients reconnecting at once',
  run: async () => {
    const server = await startMeasuredRelay()
    const accounts = await makeAccounts(server.url, ACCOUNTS)
    const rows = [
      await measure('complete logins', accounts, AT_ONCE, server.pid, logInAndConnect),
      await measure('reconnecting with a token, all at once', accounts, ACCOUNTS, server.pid, reconnect),
    ]
    await server.stop()
    return { settings: { accounts: ACCOUNTS, loginsAtOnce: AT_ONCE }, rows }
  },
}

async function measure(
  what: string,
  accounts: readonly WireAccount[],
  atOnce: number,
  pid: number,
  work: (account: WireAccount) => Promise<RawSocket>,
): Promise<Record<string, string | number>> {
  const before = { at: performance.now(), server: cpuMs(pid), load: cpuMs(process.pid) }
  const sockets: RawSocket[] = []
  await inParallel(accounts, atOnce, async (account) => {
    sockets.push(await work(account))
  })
  const ms = performance.now() - before.at
  const [server, load] = [cpuMs(pid) - before.server, cpuMs(process.pid) - before.load]
  for (const socket of sockets) socket.close()
  await Bun.sleep(1000)
  return {
    what,
    'a second': Math.round((accounts.length / ms) * 1000),
    'CPU µs': Math.round((server * 1000) / accounts.length),
    bottleneck: server / ms > 0.9 ? 'server' : load / ms > 0.9 ? 'load' : 'neither',
  }
}

async function logInAndConnect(account: WireAccount): Promise<RawSocket> {
  await account.login()
  return await RawSocket.open(`${account.base}/ws?user_uuid=${account.uuid}&ticket=${await account.ticket()}`)
}

function reconnect(account: WireAccount): Promise<RawSocket> {
  return connect(account)
}
