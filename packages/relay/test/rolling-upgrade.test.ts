// Nodes that share a PostgreSQL are replaced one after the other: a node says that it is about to stop, works
// on until the proxy knows, and stops; the next version changes the schema under those that still run.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { tellRelay } from '../src/operator.ts'
import { applySteps, lockSchema } from '../src/storage/migrate.ts'
import { schema } from '../src/storage/migrations.ts'
import { openPostgresBeside } from '../src/storage/postgres.ts'
import type { Storage } from '../src/storage/storage.ts'
import { engines } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { befriend, call, message, type WireAccount, type WireSocket, wireAccount } from './wire.ts'

setDefaultTimeout(240_000)

const nodes: RelayProcess[] = []
const storages: Storage[] = []
afterEach(async () => {
  for (const storage of storages.splice(0)) await storage.close()
  const errors = nodes.map((node) => node.errors()).join('\n')
  for (const node of nodes.splice(0)) await node.stop()
  expect(errorLines(errors)).toEqual([])
})

async function startNode(env: Record<string, string>): Promise<RelayProcess> {
  const node = await startRelay({ env })
  nodes.push(node)
  return node
}

async function newDatabase(): Promise<{ DATABASE_URL: string }> {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  return { DATABASE_URL: (await postgres?.environment())?.DATABASE_URL ?? '' }
}

/** Connects to a node. The frames that waited come first. */
async function connectTo({ url }: RelayProcess, account: WireAccount): Promise<WireSocket> {
  account.base = url
  const { socket, backlog } = await account.online()
  socket.frames.unshift(...backlog)
  return socket
}

test('a node that is to stop says so at /ready and in the list, and works on meanwhile', async () => {
  const env = await newDatabase()
  const other = await startNode(env)
  const node = await startNode({ ...env, DRAIN_NOTICE_SECONDS: '300' })
  const [alice, bob] = [await wireAccount(node.url), await wireAccount(node.url)]
  const conv = await befriend(alice, bob)
  const socket = await alice.connect()
  expect((await call(`${node.url}/ready`)).body).toMatchObject({ status: 'ready', node: 'ok' })

  process.kill(node.pid, 'SIGTERM')
  for (;;) {
    const { status, body } = await call(`${node.url}/ready`)
    if (status === 200) {
      await Bun.sleep(20)
      continue
    }
    expect({ status, body }).toMatchObject({ status: 503, body: { status: 'not_ready', node: 'draining' } })
    break
  }
  for (;;) {
    const { nodes } = await tellRelay({ DATA_DIR: other.dataDir }, 'status', {})
    const states = nodes.map(({ state }) => state).sort()
    if (Bun.deepEquals(states, ['alive', 'draining'])) break
    await Bun.sleep(20)
  }
  // Whom the proxy still sends here is served.
  socket.send(message(bob.alias, conv, 'still here'))
  expect(await socket.next('ack')).toMatchObject({ conv_id: conv })
  await wireAccount(node.url)
  expect((await call(`${node.url}/health`)).status).toBe(200)
})

test('after the notice it stops as always', async () => {
  const node = await startNode({ DRAIN_NOTICE_SECONDS: '1' })
  const socket = await (await wireAccount(node.url)).connect()
  expect(await node.kill('SIGTERM')).toBe(0)
  expect((await socket.closed).code).toBe(1012)
})

/** What a version after this one may do to the store while this one runs on it. */
async function changeAsNextVersion(storage: Storage): Promise<void> {
  await storage.transaction(async (sql) => {
    await lockSchema(sql)
    const tables = await sql<{ name: string }>`
      SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'schema_migrations'`
    await applySteps(sql, [
      'CREATE TABLE of_the_next_version (id BIGINT PRIMARY KEY)',
      ...tables.map(
        ({ name }) => `ALTER TABLE ${name} ADD COLUMN of_the_next_version BIGINT NOT NULL DEFAULT 0`,
      ),
    ])
    await sql`INSERT INTO schema_migrations (version) VALUES (${schema + 1})`
    await sql`INSERT INTO relay_state (name, value) VALUES ('oldest_schema', ${String(schema)})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  })
}

test('nodes work on a store that the next version has changed, and each is replaced while messages flow', async () => {
  const env = await newDatabase()
  const [one, two] = [await startNode(env), await startNode(env)]
  const [alice, bob] = [await wireAccount(one.url), await wireAccount(one.url)]
  const conv = await befriend(alice, bob)
  let [fromAlice, fromBob] = [await connectTo(one, alice), await connectTo(two, bob)]
  const sent: string[] = []
  const arrived: string[] = []
  const send = async (): Promise<void> => {
    const text = `message ${sent.length}`
    sent.push(text)
    fromAlice.send(message(bob.alias, conv, text))
    await fromAlice.next('ack')
  }
  const receive = async (): Promise<void> => {
    while (arrived.length < sent.length) {
      const { payload, seq } = await fromBob.next('msg')
      arrived.push(Buffer.from(payload, 'base64').toString())
      fromBob.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
    }
  }
  await send()
  await receive()

  const storage = openPostgresBeside(env.DATABASE_URL, { connections: 1 })
  storages.push(storage)
  await changeAsNextVersion(storage)
  await send()
  await receive()
  // The first one is replaced: its clients go to the other one, and come back.
  expect(await one.kill('SIGTERM')).toBe(0)
  expect((await fromAlice.closed).code).toBe(1012)
  fromAlice = await connectTo(two, alice)
  await send()
  await receive()
  await one.start()
  expect(await two.kill('SIGTERM')).toBe(0)
  expect((await fromBob.closed).code).toBe(1012)
  fromAlice.socket.close()
  fromAlice = await connectTo(one, alice)
  await send()
  fromBob = await connectTo(one, bob)
  await receive()
  await two.start()
  fromBob = await connectTo(two, bob)
  await send()
  await receive()
  expect(arrived).toEqual(sent)

  // One that would need what this version does not know is refused, and says why.
  await storage.sql`UPDATE relay_state SET value = ${String(schema + 1)} WHERE name = 'oldest_schema'`
  expect(String(await failureOf(startRelay({ env })))).toContain('a newer relay has changed the store')
})
