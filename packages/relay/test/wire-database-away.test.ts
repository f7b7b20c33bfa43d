// A PostgreSQL that dies, stands still, is cut off, waits for its replica or is replaced by it: nothing is
// acknowledged that is not there afterwards, requests and frames are refused clearly, and the relay works
// again by itself when the database does.
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from './payment-watch.ts'
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'
import { call, message, type WireAccount, type WireSocket, wireFriends } from './wire.ts'

setDefaultTimeout(240_000)

let pair: PostgresPair
let network: TcpProxy
let relay: RelayProcess
let alice: WireAccount
let bob: WireAccount
let conv: string
let sending: WireSocket

beforeAll(async () => {
  pair = await startPostgresPair()
  network = await startTcpProxy(pair.primary.port)
  const DATABASE_URL = `postgres://postgres@127.0.0.1:${network.port}/${await pair.createDatabase()}`
  relay = await startRelay({ env: { DATABASE_URL, LOG_LEVEL: 'info' } })
})
afterAll(async () => {
  await relay?.stop()
  await network?.stop()
  await pair?.stop()
})
beforeEach(async () => {
  const friends = await wireFriends(relay.url)
  alice = friends.alice
  bob = friends.bob
  conv = friends.conv
  sending = (await alice.online()).socket
})
afterEach(() => sending.close())

/** The lines of the log that say that the database is away or back, and those that are errors. */
function troubles(): string[] {
  const lines = relay.errors().trimEnd().split('\n')
  return (
    lines
      // Bun writes a line of its own when it cannot listen for notifications.
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter(({ level, event }) => level === 'error' || event.startsWith('database_'))
      .map(({ event }) => event)
  )
}

/**
 * Sends a message until the relay acknowledges it, also by another connection: the relay closes one that
 * opened just before the database went away. @returns the `ack`
 */
async function deliver(id: string) {
  for (;;) {
    sending.send(message(bob.alias, conv, id, id))
    const answer = await Promise.race([sending.closed, sending.next()])
    if ('code' in answer && answer.code === 1013) {
      await eventually(async () => {
        sending = (await alice.online()).socket
      })
      continue
    }
    if (answer.type === 'ack') return answer
    expect(answer).toMatchObject({ type: 'error', error: 'INTERNAL', id, retry_after_ms: expect.any(Number) })
    await Bun.sleep(100)
  }
}

async function expectReady(status: number): Promise<void> {
  await eventually(async () => expect((await call(`${relay.url}/ready`)).status).toBe(status))
}

const FAILURES: Readonly<Record<string, { fail: () => Promise<void>; mend: () => Promise<void> }>> = {
  'is killed': { fail: () => pair.primary.kill(), mend: () => pair.primary.start() },
  'stands still': { fail: () => pair.primary.freeze(), mend: () => pair.primary.thaw() },
  'is behind a network that loses everything': {
    fail: async () => network.stall(),
    mend: () => network.pass(),
  },
  'waits for a replica that stands still': {
    fail: () => pair.replica.freeze(),
    mend: () => pair.replica.thaw(),
  },
}

for (const [name, { fail, mend }] of Object.entries(FAILURES)) {
  test(`while the database ${name}, all is refused and nothing is acknowledged; then it goes on by itself`, async () => {
    const before = troubles().length
    await deliver('before')
    // The relay closes a connection for which it was still reading when the database went away.
    await sending.synced()
    await fail()
    // Its outcome is unknown, and no `ack` comes for it.
    sending.send(message(bob.alias, conv, 'during', 'during'))
    expect(await sending.next()).toMatchObject({ type: 'error', error: 'INTERNAL', id: 'during' })
    await expectReady(503)
    // By now the relay knows, and asks nothing of the database.
    await eventually(async () => {
      const refused = await alice.get('/friends')
      expect([refused.status, refused.body.error]).toEqual([503, 'STORE_UNAVAILABLE'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    })
    for (let i = 0; i < 5; i++) sending.send(message(bob.alias, conv, 'during', 'during'))
    for (let i = 0; i < 5; i++) expect(await sending.next()).toMatchObject({ type: 'error', id: 'during' })
    await mend()
    await deliver('during')
    await expectReady(200)
    await deliver('after')
    const { socket, backlog } = await bob.online()
    const ids = backlog.filter(({ type }) => type === 'msg').map(({ id }) => id)
    expect(ids).toEqual(['before', 'during', 'after'])
    await socket.close()
    // Said once, unless a slow machine takes so long for an answer that the database is away again.
    await eventually(() =>
      expect(troubles().slice(before).join(' ')).toMatch(
        /^database_away database_back( database_away database_back)*$/,
      ),
    )
  })
}

test('after the primary is killed and its replica promoted, everything that was acknowledged is there', async () => {
  const acknowledged: string[] = []
  let isPromoted = false
  const load = (async () => {
    for (let number = 0; !isPromoted || number < 50; number++) {
      await deliver(`m${number}`)
      acknowledged.push(`m${number}`)
    }
  })()
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(20))
  await pair.primary.kill()
  await pair.promote()
  network.leadTo(pair.primary.port)
  await deliverAgain(load)
  isPromoted = true
  await load
  const { socket, backlog } = await bob.online()
  expect(backlog.filter(({ type }) => type === 'msg').map(({ id }) => id)).toEqual(acknowledged)
  await socket.close()
  await pair.addReplica()

  async function deliverAgain(running: Promise<void>): Promise<void> {
    const soFar = acknowledged.length
    await Promise.race([running, eventually(() => expect(acknowledged.length).toBeGreaterThan(soFar))])
  }
})

test('a relay whose connections lead to a replica connects again, and reaches the primary', async () => {
  const before = troubles().length
  // The address moves, and what is connected stays connected to the server that takes no writes.
  network.leadTo(pair.replica.port)
  network.drop()
  await expectReady(503)
  network.leadTo(pair.primary.port)
  await deliver('again')
  await expectReady(200)
  const found = troubles().slice(before)
  expect(found.at(0)).toBe('database_away')
  expect(found.at(-1)).toBe('database_back')
})
