// Accounts that connect again and again, by a complete login or with the token they still have.
import type { WireAccount } from '@sotto/relay/testing/wire'
import { type Contender, measureWork } from '../contest.ts'
import type { MeasuredServer } from '../server-process.ts'
import { makeAccounts } from './accounts.ts'
import { untilSynced } from './pairs.ts'
import { RawHttp } from './raw-http.ts'
import type { RawSocket } from './raw-socket.ts'
import { repeat } from './repeat.ts'
import { storeMessages } from './waiting.ts'

/** Each worker has separate accounts, and keeps at most one connection of each account open. */
const AT_ONCE = 64
const ACCOUNTS = AT_ONCE * 4

/** How many messages wait for each account that reconnects with a backlog. */
export const WAITING = 20

type ComeOnline = (account: WireAccount, http: RawHttp) => Promise<RawSocket>

/** Complete logins: challenge, signature, ticket, WebSocket, and the backlog to its end. */
export async function logins(name: string, server: MeasuredServer): Promise<Contender> {
  return comingOnline(name, server, await makeAccounts(server.url, ACCOUNTS), async (account, http) => {
    const user_uuid = account.uuid
    const { challenge } = JSON.parse(await http.post('/api/v1/auth/challenge', JSON.stringify({ user_uuid })))
    const proof = { user_uuid, challenge, signature: account.sign(challenge) }
    account.token = JSON.parse(await http.post('/api/v1/auth/verify', JSON.stringify(proof))).token
    return await openByTicket(account, http)
  })
}

/** Reconnections with the token an account still has: ticket, WebSocket, and the backlog to its end. */
export async function reconnections(name: string, server: MeasuredServer): Promise<Contender> {
  return comingOnline(name, server, await makeAccounts(server.url, ACCOUNTS), openByTicket)
}

/**
 * Reconnections to a relay that has {@link WAITING} messages for each account. The accounts never confirm
 * them.
 */
export async function reconnectionsWithBacklog(name: string, server: MeasuredServer): Promise<Contender> {
  const [sender] = await makeAccounts(server.url, 1)
  const accounts = await makeAccounts(server.url, ACCOUNTS)
  for (const account of accounts) if (sender) await storeMessages(sender, account, WAITING)
  return comingOnline(name, server, accounts, openByTicket)
}

async function openByTicket(account: WireAccount, http: RawHttp): Promise<RawSocket> {
  const authorization = `Authorization: Bearer ${account.token}\r\n`
  const { ticket } = JSON.parse(await http.post('/api/v1/ws/ticket', '', authorization))
  return await untilSynced(`${account.base}/ws?user_uuid=${account.uuid}&ticket=${ticket}`)
}

function comingOnline(
  name: string,
  server: MeasuredServer,
  accounts: readonly WireAccount[],
  comeOnline: ComeOnline,
): Contender {
  const sockets = new Map<number, RawSocket>()
  return {
    name,
    measure: async (seconds) => {
      // Opened for each measurement: a server closes idle HTTP connections while the other servers are
      // measured.
      const https = await Promise.all(Array.from({ length: AT_ONCE }, () => RawHttp.open(server.url)))
      const measured = await measureWork(server.pid, () =>
        repeat({ atOnce: AT_ONCE, of: ACCOUNTS, seconds }, async (index, worker) => {
          const [account, http] = [accounts[index], https[worker]]
          if (!account || !http) return
          sockets.get(index)?.close()
          sockets.set(index, await comeOnline(account, http))
        }),
      )
      for (const http of https) http.close()
      return measured
    },
    close: async () => {
      for (const socket of sockets.values()) socket.close()
      await server.stop()
    },
  }
}
