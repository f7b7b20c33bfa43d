// The first certificate by ACME when something is wrong: nobody has to do anything but mend it.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examine } from '../src/doctor/doctor.ts'
import { findFreePort } from './free-port.ts'
import { type Pebble, startPebble } from './pebble.ts'
import { startRelay } from './relay-process.ts'
import { untilLogged } from './until-logged.ts'

setDefaultTimeout(240_000)
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A server, and the settings of a relay that gets its certificate there. */
async function acme(domain: string): Promise<{ pebble: Pebble; settings: Record<string, string> }> {
  const httpPort = await findFreePort()
  const pebble = await startPebble(httpPort)
  endings.push(() => pebble.remove())
  const settings = { DOMAIN: domain, HTTP_PORT: String(httpPort), LOG_LEVEL: 'info' }
  return { pebble, settings: { ...pebble.settings, ...settings } }
}

test('while the server is away, a relay says so, and starts when the server is back', async () => {
  const { pebble, settings } = await acme('relay.example')
  await pebble.stop()
  // Stands at the server's address until it was asked, and hangs up.
  const { port } = new URL(settings.ACME_DIRECTORY ?? '')
  const asked = Promise.withResolvers<void>()
  const nobody = createServer((socket) => {
    socket.destroy()
    asked.resolve()
  })
  await new Promise<void>((resolve) => nobody.listen(Number(port), '127.0.0.1', resolve))
  const starting = startRelay({ env: settings })
  await asked.promise
  await new Promise((resolve) => nobody.close(resolve))
  await pebble.start()
  const relay = await starting
  endings.push(() => relay.stop())
  await untilLogged(relay, 'certificate_failed')
  await untilLogged(relay, 'certificate_issued')
  const ca = await pebble.authority()
  const tls = { ca, serverName: 'relay.example', checkServerIdentity: () => undefined }
  expect((await fetch(`${relay.url}/health`, { tls })).status).toBe(200)
})

test('for a name that leads to somebody else, the server’s refusal is told, and a signal ends the wait', async () => {
  const { pebble, settings } = await acme('foreign.example')
  await pebble.lead('foreign.example', '127.0.0.2')
  const dataDir = await mkdtemp(join(tmpdir(), 'sotto-acme-'))
  endings.push(() => rm(dataDir, { recursive: true, force: true }))
  const relay = Bun.spawn([process.execPath, join(import.meta.dir, 'relay-main.ts')], {
    env: {
      ...{ PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: String(await findFreePort()) },
      ...{ DATA_DIR: dataDir, ...settings },
    },
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  })
  let log = ''
  const read = (async () => {
    for await (const piece of relay.stderr.pipeThrough(new TextDecoderStream())) log += piece
  })()
  await untilLogged({ errors: () => log }, 'certificate_failed')
  expect(log).toContain('the server could not see that the host is ours: ')
  relay.kill('SIGTERM')
  expect(await relay.exited).toBe(0)
  await read
  expect(log).toContain('"event":"stopped"')
  expect(log).not.toContain('"event":"started"')
})

test('after a change of the server, the relay gets a certificate of the new one before it starts', async () => {
  const { pebble, settings } = await acme('127.0.0.1')
  const env = { ...settings }
  const relay = await startRelay({ env })
  endings.push(() => relay.stop())
  const other = await startPebble(Number(settings.HTTP_PORT))
  endings.push(() => other.remove())
  const doctor = async () =>
    (await examine({ ...env, DATA_DIR: relay.dataDir })).find(({ check }) => check === 'certificate')
  expect(await doctor()).toMatchObject({ state: 'ok' })
  await relay.kill('SIGTERM')
  Object.assign(env, other.settings)
  expect(await doctor()).toMatchObject({ state: 'warning' })
  await relay.start()
  expect(await doctor()).toMatchObject({ state: 'ok' })
  const asked = async (ca: string) => (await fetch(`${relay.url}/health`, { tls: { ca } })).status
  expect(await asked(await other.authority())).toBe(200)
  await relay.kill('SIGTERM')
  Object.assign(env, pebble.settings)
  await relay.start() // The former certificate is still good.
  expect(relay.errors()).not.toContain('certificate_issued')
  expect(await asked(await pebble.authority())).toBe(200)
})
