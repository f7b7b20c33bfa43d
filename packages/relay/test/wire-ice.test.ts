// The STUN and TURN servers of a call: what clients receive, and a real TURN server that accepts the
// credentials until they expire.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { startRelay as startRelayHere } from '../src/relay.ts'
import { type Coturn, startCoturn } from './coturn.ts'
import { expectFields, expectProblem } from './expect.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { useRelay } from './use-relay.ts'
import { call, type WireAccount, wireAccount } from './wire.ts'

const SECRET = 'a secret of 32 characters or so!'

let coturn: Coturn
let relay: RelayProcess
let account: WireAccount

function settingsFor(port: number): Record<string, string> {
  return {
    TURN_URLS: `turn:127.0.0.1:${port}, turn:127.0.0.1:${port}?transport=tcp`,
    TURN_SECRET: SECRET,
    STUN_URLS: `stun:127.0.0.1:${port}`,
    TURN_TTL_SECONDS: '600',
  }
}

beforeAll(async () => {
  coturn = await startCoturn(SECRET)
  relay = await startRelay({ env: { ...settingsFor(coturn.port), LOG_LEVEL: 'debug' } })
  account = await wireAccount(relay.url)
}, 120_000)

afterAll(async () => {
  const log = relay.errors()
  await relay.stop()
  await coturn.stop()
  expect(log).not.toContain(SECRET)
}, 120_000)

async function turnOf(of: WireAccount): Promise<{ username: string; credential: string }> {
  const { body } = await of.get('/calls/ice-config?mode=relay')
  const [{ username, credential }] = body.ice_servers
  return { username, credential }
}

test('mode=relay names only TURN servers, with credentials that reveal nothing about the account', async () => {
  const before = Math.floor(Date.now() / 1000)
  const { status, headers, body, text } = await account.get('/calls/ice-config?mode=relay')
  const after = Math.floor(Date.now() / 1000)
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expectFields(body, ['ttl', 'ice_transport_policy', 'ice_servers'])
  expect([body.ttl, body.ice_transport_policy]).toEqual([600, 'relay'])
  const urls = [`turn:127.0.0.1:${coturn.port}`, `turn:127.0.0.1:${coturn.port}?transport=tcp`]
  expect(body.ice_servers).toEqual([
    { urls, username: expect.stringMatching(/^\d{10}:[\w-]{12}$/), credential: expect.any(String) },
  ])
  const [{ username, credential }] = body.ice_servers
  expect(Number.parseInt(username, 10)).toBeGreaterThanOrEqual(before + 600)
  expect(Number.parseInt(username, 10)).toBeLessThanOrEqual(after + 600)
  expect(credential).toBe(createHmac('sha1', SECRET).update(username).digest('base64'))
  for (const known of [account.alias, account.uuid, account.token, SECRET]) expect(text).not.toContain(known)
  expect((await turnOf(account)).username).not.toBe(username)
})

test.each(['', '?mode=', '?mode=all', '?mode=RELAY'])(
  'any other mode (%p) adds STUN servers and allows direct connections',
  async (query) => {
    const { body } = await account.get(`/calls/ice-config${query}`)
    expect(body.ice_transport_policy).toBe('all')
    expect(body.ice_servers).toMatchObject([
      { urls: [`stun:127.0.0.1:${coturn.port}`] },
      { urls: [expect.stringMatching(/^turn:/), expect.stringMatching(/^turn:/)] },
    ])
    expectFields(body.ice_servers[0], ['urls'])
  },
)

test('without a token the request answers 401', async () => {
  expectProblem(await call(account.api('/calls/ice-config?mode=relay')), 401, 'UNAUTHENTICATED')
})

describe('a real TURN server', () => {
  test.each(['udp', 'tcp'] as const)('relays media for these credentials, over %s', async (over) => {
    expect(await coturn.carries(await turnOf(account), over)).toBe(true)
  })

  test('refuses forged credentials', async () => {
    const { username, credential } = await turnOf(account)
    const later = `${Number.parseInt(username, 10) + 600}${username.slice(10)}`
    const forged = [
      { username, credential: `${credential.startsWith('A') ? 'B' : 'A'}${credential.slice(1)}` },
      { username: later, credential },
      { username: `${username}x`, credential },
      { username, credential: createHmac('sha1', 'another secret').update(username).digest('base64') },
      { username, credential: SECRET },
      { username: account.alias, credential },
    ]
    for (const each of forged) expect(await coturn.carries(each, 'udp')).toBe(false)
  })

  test('refuses the credentials once they have expired', async () => {
    // A relay whose clock is eleven minutes behind issues credentials that expired a minute ago.
    const folder = await mkdtemp(join(tmpdir(), 'sotto-ice-'))
    const config = readConfig({
      ...settingsFor(coturn.port),
      ...{ PORT: '0', DATA_DIR: folder, RATE_LIMITS: 'off', LIMIT_POW_DIFFICULTY: '1' },
    })
    const clock = { now: () => Date.now() - 660_000, monotonic: () => performance.now() }
    const late = await startRelayHere(config, { clock, randomBytes: systemRandom, log: createLog('error') })
    const expired = await turnOf(await wireAccount(`http://127.0.0.1:${late.port}`))
    await late.stop()
    await rm(folder, { recursive: true, force: true })
    expect(expired.credential).toBe(createHmac('sha1', SECRET).update(expired.username).digest('base64'))
    expect(await coturn.carries(expired, 'udp')).toBe(false)
  })
})

describe('without STUN and TURN settings', () => {
  const plain = useRelay()

  test('the list is empty, and the answer still names the requested policy', async () => {
    const someone = await wireAccount(plain.url)
    const answers = [
      await someone.get('/calls/ice-config?mode=relay'),
      await someone.get('/calls/ice-config'),
    ]
    expect(answers.map(({ body }) => body)).toEqual([
      { ttl: 43_200, ice_transport_policy: 'relay', ice_servers: [] },
      { ttl: 43_200, ice_transport_policy: 'all', ice_servers: [] },
    ])
  })
})

test('a relay with TURN servers and no secret does not start, and names the missing setting', async () => {
  expect(String(await failureOf(startRelay({ env: { TURN_URLS: 'turn:turn.example' } })))).toContain(
    'TURN_SECRET must be at least 16 characters if TURN_URLS is set',
  )
})
