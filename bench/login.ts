// `npm run bench -- login`: complete logins (challenge, verify, ticket, upgrade), and a storm of reconnecting clients.
import type { WireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect } from './load/pairs.ts'
import { RawHttp } from './load/raw-http.ts'
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
    const idle = await Promise.all(Array.from({ length: AT_ONCE }, () => RawHttp.open(server.url)))
    const logIn = async (account: WireAccount): Promise<RawSocket> => {
      const http = idle.pop() ?? (await RawHttp.open(server.url))
      const socket = await logInAndConnect(account, http)
      idle.push(http)
      return socket
    }
    const rows = [
      await measure('complete logins', accounts, AT_ONCE, server.pid, logIn),
      await measure('reconnecting with a token, all at once', accounts, ACCOUNTS, server.pid, reconnect),
    ]
    for (const http of idle) http.close()
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

/** Challenge, verify, ticket and upgrade, the first three over one of the connections that are open for it. */
async function logInAndConnect(account: WireAccount, http: RawHttp): Promise<RawSocket> {
  const user_uuid = account.uuid
  const { challenge } = JSON.parse(await http.post('/api/v1/auth/challenge', JSON.stringify({ user_uuid })))
  const proof = { user_uuid, challenge, signature: account.sign(challenge) }
  const { token } = JSON.parse(await http.post('/api/v1/auth/verify', JSON.stringify(proof)))
  const { ticket } = JSON.parse(
    await http.post('/api/v1/ws/ticket', '', `Authorization: Bearer ${token}\r\n`),
  )
  return await RawSocket.open(`${account.base}/ws?user_uuid=${user_uuid}&ticket=${ticket}`)
}

function reconnect(account: WireAccount): Promise<RawSocket> {
  return connect(account)
}
