// Two relays on one PostgreSQL with one name: the ACME server’s question reaches the node that did not order.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { engines } from './engines.ts'
import { findFreePort } from './free-port.ts'
import { startPebble } from './pebble.ts'
import { startRelay } from './relay-process.ts'

setDefaultTimeout(240_000)
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

test('any node answers the question whether the name is ours', async () => {
  const httpPort = await findFreePort()
  const pebble = await startPebble(httpPort)
  endings.push(() => pebble.remove())
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  const database = await postgres?.environment()
  const start = async (port: number) => {
    const own = { DOMAIN: 'relay.example', HTTP_PORT: String(port), LOG_LEVEL: 'info' }
    const relay = await startRelay({ env: { ...pebble.settings, ...own, ...database } })
    endings.push(() => relay.stop())
    return relay
  }
  const asked = await start(httpPort)
  const other = await start(await findFreePort()) // Nobody asks at this port.
  const tls = {
    ca: await pebble.authority(),
    serverName: 'relay.example',
    checkServerIdentity: () => undefined,
  }
  for (const { url } of [asked, other]) expect((await fetch(`${url}/health`, { tls })).status).toBe(200)
  for (const node of [asked, other]) {
    expect(node.errors()).toContain('"event":"certificate_issued"')
    expect(node.errors()).not.toContain('certificate_failed')
  }
  const path = `http://127.0.0.1:${httpPort}/.well-known/acme-challenge/a-token-that-nobody-gave`
  expect((await fetch(path)).status).toBe(404)
})
