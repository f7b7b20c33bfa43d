// Many clients that connect at the same moment, as after the death of another node: none is refused because
// of the others, however slow the database is.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { engines } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { wireAccount } from './wire.ts'

setDefaultTimeout(240_000)

/** More than the queries that a relay with two connections to PostgreSQL lets wait. */
const CLIENTS = 450

let node: RelayProcess
let databaseUrl = ''

beforeAll(async () => {
  const env = await engines.find(({ name }) => name === 'PostgreSQL')?.environment()
  databaseUrl = String(env?.DATABASE_URL)
  const LIMIT_ADDRESS_CONNECTIONS = '10000'
  node = await startRelay({ env: { ...env, DATABASE_CONNECTIONS: '2', LIMIT_ADDRESS_CONNECTIONS } })
})
afterAll(async () => {
  const errors = node.errors()
  await node.stop()
  expect(errorLines(errors)).toEqual([])
})

/** Does work while nobody can read some tables. */
async function whileLocked(tables: readonly string[], work: () => Promise<void>): Promise<void> {
  await using sql = new SQL(databaseUrl, { max: 1 })
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`)
    await work()
  })
}

/** Asks for WebSockets at once. @returns for each when its request has left, and the status of its answer */
function openMany(url: string) {
  const { hostname, port, pathname, search } = new URL(url)
  return Array.from({ length: CLIENTS }, () => {
    const sent = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<string>()
    const socket = Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (opened) => {
          opened.write(
            `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
              'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
          )
          sent.resolve()
        },
        data: (_socket, bytes) => answered.resolve(Buffer.from(bytes).toString('latin1').slice(9, 12)),
        close: () => answered.resolve('closed'),
      },
    })
    socket.catch(sent.reject)
    return { sent: sent.promise, answered: answered.promise, close: async () => (await socket).end() }
  })
}

test('hundreds of clients that come at once and wait for the database are all admitted', async () => {
  const account = await wireAccount(node.url)
  let clients: ReturnType<typeof openMany> = []
  await whileLocked(['accounts', 'mailboxes', 'channel_subscriptions'], async () => {
    clients = openMany(`${account.wsUrl()}?user_uuid=${account.uuid}&token=${account.token}`)
    await Promise.all(clients.map(({ sent }) => sent))
    await fetch(`${node.url}/health`)
  })
  const statuses = await Promise.all(clients.map(({ answered }) => answered))
  expect(new Set(statuses)).toEqual(new Set(['101']))
  const { socket, backlog } = await account.online()
  expect(backlog).toEqual([{ type: 'sync_end', count: 0 }])
  await socket.close()
  for (const client of clients) await client.close()
})
