// What an operator sees of the nodes that share a PostgreSQL, from any of them.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { operatorSocketOf, sendOperatorCommand } from '../src/listener/operator-socket.ts'
import { tellRelay } from '../src/operator.ts'
import type { Status } from '../src/status.ts'
import { schema } from '../src/storage/migrations.ts'
import { version } from '../src/version.ts'
import { engines } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { wireAccount } from './wire.ts'

setDefaultTimeout(240_000)

const nodes: RelayProcess[] = []
afterEach(async () => {
  const errors = nodes.map((node) => node.errors()).join('\n')
  for (const node of nodes.splice(0)) await node.stop()
  expect(errorLines(errors)).toEqual([])
})

async function sharedSettings(): Promise<Record<string, string>> {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  return { ...(await postgres?.environment()) }
}

async function startNode(env: Record<string, string>): Promise<RelayProcess> {
  const node = await startRelay({ env })
  nodes.push(node)
  return node
}

const statusAt = ({ dataDir }: RelayProcess): Promise<Status> =>
  tellRelay({ DATA_DIR: dataDir }, 'status', {})

/** Asks a node for its status until it holds. */
async function statusWhen(node: RelayProcess, holds: (status: Status) => boolean): Promise<Status> {
  for (;;) {
    const status = await statusAt(node)
    if (holds(status)) return status
    await Bun.sleep(50)
  }
}

const portOf = ({ url }: RelayProcess): string => new URL(url).port
const entryOf = ({ nodes }: Status, node: RelayProcess) =>
  nodes.find(({ place }) => place.endsWith(`:${portOf(node)}`))

test('each node shows all of them and adds their connections up; one that is killed is silent, one that stops is gone', async () => {
  const env = await sharedSettings()
  const [one, two] = [await startNode(env), await startNode(env)]
  const sockets = [
    await (await wireAccount(one.url)).connect(),
    await (await wireAccount(two.url)).connect(),
    await (await wireAccount(two.url)).connect(),
  ]
  const seen = await statusWhen(one, (status) => entryOf(status, two)?.connections === 2)
  expect(entryOf(seen, two)).toMatchObject({
    version,
    schema,
    state: 'alive',
    bus: 'ok',
    silent_seconds: expect.any(Number),
  })
  expect({ here: seen.relay?.connections, all: seen.connections }).toEqual({ here: 1, all: 3 })
  expect(seen.relay?.node).toBe(entryOf(seen, one)?.node)
  expect(await statusWhen(two, (status) => entryOf(status, one)?.connections === 1)).toMatchObject({
    relay: { connections: 2 },
    connections: 3,
  })

  await two.kill('SIGKILL')
  const silent = await statusWhen(one, (status) => entryOf(status, two)?.state === 'silent')
  expect(silent.connections).toBe(1)
  expect(entryOf(silent, two)?.silent_seconds).toBeGreaterThanOrEqual(15)
  // Without a relay, the command reads the list itself.
  const beside = await tellRelay({ ...env, DATA_DIR: two.dataDir }, 'status', {})
  expect([beside.relay, beside.nodes.length, beside.connections]).toEqual([null, 2, 1])

  // It takes the place of the one that was killed.
  await two.start()
  const again = await statusAt(one)
  expect(again.nodes.map(({ state }) => state)).toEqual(['alive', 'alive'])
  expect(await two.kill('SIGTERM')).toBe(0)
  expect((await statusAt(one)).nodes.map(({ place }) => place)).toEqual([entryOf(again, one)?.place ?? ''])
  for (const socket of sockets) socket.socket.close()
})

test('a node whose clock differs tells by how much, and one that was silent for a day is forgotten', async () => {
  const env = await sharedSettings()
  const one = await startNode(env)
  await one.letPass(120_000)
  const seen = await statusWhen(one, (status) => (entryOf(status, one)?.clock_ahead_ms ?? 0) > 60_000)
  expect(entryOf(seen, one)?.state).toBe('alive')

  await using sql = new SQL({ url: env.DATABASE_URL ?? '', max: 1 })
  await sql`INSERT INTO nodes SELECT 'old', 'old:1', version, schema_known, settings, started_at,
    seen_at - 86400001, clock_ahead_ms, 7, registrations, is_draining, is_bus_heard FROM nodes`
  const old = (await statusAt(one)).nodes.find(({ node }) => node === 'old')
  expect(old?.state).toBe('silent')
  while ((await statusAt(one)).nodes.some(({ node }) => node === 'old')) await one.maintain()
})

test('registrations at all nodes together make the proof of work harder', async () => {
  const env = { ...(await sharedSettings()), RATE_LIMITS: 'on', POW_RISES_AT: '4' }
  const [one, two] = [await startNode(env), await startNode(env)]
  const zerosAt = async ({ dataDir }: RelayProcess): Promise<number> => {
    const reply = await sendOperatorCommand(operatorSocketOf(dataDir), 'metrics', {})
    return Number(/^sotto_proof_of_work_zeros (?<zeros>\d+)$/m.exec(String(reply?.answer))?.groups?.zeros)
  }
  const before = await zerosAt(one)
  for (const { url } of [one, two]) for (let i = 0; i < 2; i++) await wireAccount(url)
  while ((await zerosAt(one)) !== before + 1 || (await zerosAt(two)) !== before + 1) await Bun.sleep(50)
})

test('the metrics count packets and looks, the nodes by their state, and who holds the leases', async () => {
  const env = await sharedSettings()
  const [one, two] = [await startNode(env), await startNode(env)]
  const valuesAt = async ({ dataDir }: RelayProcess): Promise<Map<string, number>> => {
    const reply = await sendOperatorCommand(operatorSocketOf(dataDir), 'metrics', {})
    const lines = String(reply?.answer).matchAll(/^(?<series>sotto_\S+) (?<value>\S+)$/gm)
    return new Map(Array.from(lines, ([, series = '', value]) => [series, Number(value)]))
  }
  for (;;) {
    const [first, second] = [await valuesAt(one), await valuesAt(two)]
    const of = (series: string) => [first.get(series) ?? -1, second.get(series) ?? -1]
    const counted = ['packets_total{direction="sent"}', 'packets_total{direction="received"}', 'looks_total']
    const isAllCounted = counted.every((name) => of(`sotto_bus_${name}`).every((count) => count > 0))
    const areBothListed = of('sotto_nodes{state="alive"}').every((count) => count === 2)
    if (!isAllCounted || !areBothListed) {
      await Bun.sleep(50)
      continue
    }
    // The second one heard the first one in the middle. The first one heard the second one from its
    // beginning.
    expect(second.get('sotto_bus_gaps_total')).toBeGreaterThan(0)
    expect(of('sotto_nodes{state="silent"}')).toEqual([0, 0])
    for (const lease of ['payments', 'sweeps'])
      expect(of(`sotto_lease_held{lease="${lease}"}`)).toEqual([1, 0])
    break
  }
})

test('a command that is given where no node runs reaches the nodes by the store', async () => {
  const env = await sharedSettings()
  const one = await startNode(env)
  const two = await startNode(env)
  await two.kill('SIGTERM')
  const mallory = await wireAccount(one.url)
  const socket = await mallory.connect()
  const by = { who: 'grace', why: 'Sends the same request to everybody' }
  const beside = { ...env, DATA_DIR: two.dataDir }
  await tellRelay(beside, 'accounts.suspend', { alias_id: mallory.alias, ...by })
  expect((await socket.closed).code).toBe(4401)
})

test('an embedded store has no list', async () => {
  const relay = await startNode({})
  const socket = await (await wireAccount(relay.url)).connect()
  expect(await statusAt(relay)).toMatchObject({
    nodes: [],
    connections: 1,
    relay: { node: '', connections: 1 },
  })
  socket.socket.close()
})
