// A certificate by ACME, from Debian's pebble: the first one, renewal while people talk, and a server that is
// away.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, readdir, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { findFreePort } from './free-port.ts'
import { LIFE_SECONDS, type Pebble, startPebble } from './pebble.ts'
import { openPlainDoor, type PlainDoor } from './plain-door.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { startTalk } from './talk.ts'
import { untilLogged } from './until-logged.ts'
import { errorLines } from './use-relay.ts'
import { wireFriends } from './wire.ts'

setDefaultTimeout(240_000)
const DOMAIN = 'relay.example'
let pebble: Pebble
let relay: RelayProcess
let door: PlainDoor
let httpPort = 0
const trusted: string[] = []

const portOf = ({ url }: RelayProcess): number => Number(new URL(url).port)
const settings = (more: Record<string, string> = {}): Record<string, string> => ({
  ...pebble.settings,
  ...{ DOMAIN, HTTP_PORT: String(httpPort), LOG_LEVEL: 'info', ...more },
})

/** The certificate that a new connection gets; it must be valid for the host. */
function servedTo(port: number, servername = DOMAIN): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername, ca: trusted })
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

// Starts the maintenance again and again, because a pass is skipped while another one runs.
const untilRenewal = (event: string, times = 1): Promise<void> =>
  untilLogged(relay, event, { times, meanwhile: () => relay.maintain() })

/** Its log is empty then. */
async function restart(): Promise<void> {
  await relay.kill('SIGTERM')
  await relay.start()
}

const plain = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${httpPort}${path}`, { redirect: 'manual', ...init })

beforeAll(async () => {
  httpPort = await findFreePort()
  pebble = await startPebble(httpPort)
  trusted.push(await pebble.authority())
  relay = await startRelay({ env: settings() })
  door = await openPlainDoor({ port: portOf(relay), host: DOMAIN, authorities: () => trusted })
})
afterAll(async () => {
  door?.close()
  await relay?.stop()
  await pebble?.remove()
})

test('the relay gets a certificate for its domain, and keeps it and its keys to itself', async () => {
  const before = await servedTo(portOf(relay))
  const folder = join(relay.dataDir, 'certificates')
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect((await readdir(folder)).sort()).toEqual([
    'account.pem',
    expect.stringMatching(/^relay\.example-[0-9a-f]{8}\.pem$/),
  ])
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  await restart()
  expect(await servedTo(portOf(relay))).toBe(before)
  expect(relay.errors()).not.toContain('certificate_issued')
})

test('port 80 sends browsers to https, and takes nothing from clients', async () => {
  const page = await plain('/some/page?of=mine')
  expect(page.status).toBe(308)
  expect(page.headers.get('location')).toBe(`https://${DOMAIN}:${portOf(relay)}/some/page?of=mine`)
  for (const [path, method] of [
    ['/api/v1/friends', 'GET'],
    ['/ws', 'GET'],
    ['/', 'POST'],
  ] as const)
    expect((await plain(path, { method })).status).toBe(403)
  expect((await plain('/.well-known/acme-challenge/a-token-that-nobody-gave')).status).toBe(404)
})

test('it is renewed after two thirds of its life, and no message is lost meanwhile', async () => {
  const account = join(relay.dataDir, 'certificates', 'account.pem')
  await Bun.write(account, '') // As a power cut can leave it.
  await restart()
  const first = await servedTo(portOf(relay))
  await relay.letPass((LIFE_SECONDS * 1000 * 3) / 4)
  const { alice, bob, conv } = await wireFriends(door.url)
  const [a, b] = [(await alice.online()).socket, (await bob.online()).socket]
  const endTalk = startTalk({ account: alice, socket: a }, { account: bob, socket: b }, conv)
  try {
    await untilRenewal('certificate_issued')
    expect(await servedTo(portOf(relay))).not.toBe(first)
  } finally {
    await endTalk()
  }
  expect(await Bun.file(account).text()).toStartWith('-----BEGIN PRIVATE KEY-----')
  expect((await stat(account)).mode & 0o777).toBe(0o600)
  expect(door.failures).toEqual([])
  await Promise.all([a.close(), b.close()])
  expect(errorLines(relay.errors())).toEqual([])
})

test('while the server is away, the certificate stays; it is tried again, and expired ones too', async () => {
  await pebble.stop()
  const before = await servedTo(portOf(relay))
  await restart()
  await untilRenewal('certificate_failed') // Before the clock is moved, which stops it.
  await relay.letPass(LIFE_SECONDS * 1000)
  await untilRenewal('certificate_expired')
  expect(await servedTo(portOf(relay))).toBe(before)
  await pebble.start()
  trusted.push(await pebble.authority())
  await relay.letPass(180_000) // Longer than it waits after the second failure.
  await untilRenewal('certificate_issued')
  expect(await servedTo(portOf(relay))).not.toBe(before)
})

test('a signed certificate that cannot be stored yet is not ordered again', async () => {
  await restart()
  const before = await servedTo(portOf(relay))
  const folder = join(relay.dataDir, 'certificates')
  const stored = (await readdir(folder)).find((name) => name.startsWith(DOMAIN))
  const obstacle = join(folder, `${stored}.new`)
  await mkdir(obstacle)
  await relay.letPass((LIFE_SECONDS * 1000 * 3) / 4)
  await untilRenewal('certificate_failed')
  expect(relay.errors()).toContain('EISDIR')
  expect(await servedTo(portOf(relay))).toBe(before)
  await pebble.stop() // It cannot sign another one.
  await rmdir(obstacle)
  await relay.letPass(60_000)
  await untilRenewal('certificate_issued')
  expect(await servedTo(portOf(relay))).not.toBe(before)
  await pebble.start()
  trusted.push(await pebble.authority())
})

test('an IP address gets one too', async () => {
  await relay.kill('SIGTERM') // It has the port that pebble asks.
  const other = await startRelay({ env: settings({ DOMAIN: '127.0.0.1' }) })
  try {
    expect(other.url).toStartWith('https://')
    expect(await servedTo(portOf(other), '')).not.toBe('')
  } finally {
    await other.stop()
  }
})
