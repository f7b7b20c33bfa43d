// Several relays on one PostgreSQL with one name: one of them gets a certificate by ACME, and all serve it.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:tls'
import { engines } from './engines.ts'
import { findFreePort } from './free-port.ts'
import { eventually } from './payment-watch.ts'
import { LIFE_SECONDS, type Pebble, startPebble } from './pebble.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'

setDefaultTimeout(240_000)
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** After this time a certificate is to be renewed. */
const DUE_MS = (LIFE_SECONDS * 1000 * 3) / 4
const TURN_OF_CERTIFICATES = '"event":"lease_taken","reason":"certificates"'

/** A pebble that asks at a port, and what starts relays that share a database. */
async function open(): Promise<{
  readonly pebble: Pebble
  /** @param httpPort where it answers; nobody asks at another than the first one */
  readonly start: (httpPort: number, more?: Readonly<Record<string, string>>) => Promise<RelayProcess>
  readonly asked: number
}> {
  const asked = await findFreePort()
  const pebble = await startPebble(asked)
  endings.push(() => pebble.remove())
  const database = await engines.find(({ name }) => name === 'PostgreSQL')?.environment()
  const start = async (httpPort: number, more: Readonly<Record<string, string>> = {}) => {
    const own = { DOMAIN: 'relay.example', HTTP_PORT: String(httpPort), LOG_LEVEL: 'info', ...more }
    const relay = await startRelay({ env: { ...pebble.settings, ...own, ...database } })
    endings.push(() => relay.stop())
    return relay
  }
  return { pebble, start, asked }
}

/** The certificate that a new connection gets; it must be valid for the host. */
async function servedBy({ url }: RelayProcess, pebble: Pebble): Promise<string> {
  const ca = await pebble.authority()
  return new Promise((resolve, reject) => {
    const at = { port: Number(new URL(url).port), host: '127.0.0.1', servername: 'relay.example', ca }
    const socket = connect(at)
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

const timesIssued = (relay: RelayProcess): number =>
  relay.errors().split('"event":"certificate_issued"').length - 1

test('one node orders and renews, any node answers the question, and all serve it, also after its death', async () => {
  const { pebble, start, asked } = await open()
  const first = await start(asked)
  const second = await start(await findFreePort())
  const began = await servedBy(first, pebble)
  expect(await servedBy(second, pebble)).toBe(began)

  /** Waits until this node serves another certificate. */
  const untilRenewed = async (node: RelayProcess, before: string, all: readonly RelayProcess[]) => {
    for (;;) {
      await Promise.all(all.map((each) => each.maintain()))
      const served = await servedBy(node, pebble)
      if (served !== before) return served
      await Bun.sleep(50)
    }
  }
  for (const node of [first, second]) await node.letPass(DUE_MS)
  const renewed = await untilRenewed(first, began, [first, second])
  expect(await untilRenewed(second, began, [first, second])).toBe(renewed)
  await eventually(() => expect([timesIssued(first), timesIssued(second)]).toEqual([2, 0]))

  // Nobody asks at the second node's port, so a third one answers for it.
  await first.kill('SIGKILL')
  while (!second.errors().includes(TURN_OF_CERTIFICATES)) await Bun.sleep(50)
  const third = await start(asked)
  expect(await servedBy(third, pebble)).toBe(renewed)
  await second.letPass(DUE_MS)
  const last = await untilRenewed(second, renewed, [second, third])
  expect(await untilRenewed(third, renewed, [second, third])).toBe(last)
  await eventually(() => expect(timesIssued(second) + timesIssued(third)).toBe(1))
  for (const node of [first, second, third]) expect(node.errors()).not.toContain('certificate_failed')
  const path = `http://127.0.0.1:${asked}/.well-known/acme-challenge/a-token-that-nobody-gave`
  expect((await fetch(path)).status).toBe(404)
})

test('workers of one port serve one certificate, and any of them answers the question', async () => {
  const { pebble, start, asked } = await open()
  const relay = await start(asked, { WORKERS: '2' })
  const served = new Set<string>()
  // The system chooses a worker for each connection.
  for (let connection = 0; connection < 40; connection++) served.add(await servedBy(relay, pebble))
  expect(served.size).toBe(1)
  await eventually(() => expect(timesIssued(relay)).toBe(1))
  expect(relay.errors()).not.toContain('certificate_failed')
})
