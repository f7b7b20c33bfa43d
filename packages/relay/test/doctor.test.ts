// sotto doctor: each check finds what is really wrong, and says what is right.
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { examine } from '../src/doctor/doctor.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { systemClock } from '../src/operations/clock.ts'
import { ClockTrust } from '../src/operations/clock-trust.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { openPostgres } from '../src/storage/postgres.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import { version } from '../src/version.ts'
import { certify } from './certificate.ts'
import { startChain } from './chain.ts'
import { XPUB } from './chain-shop.ts'
import { type Coturn, startCoturn } from './coturn.ts'
import { engines } from './engines.ts'
import { findFreePort } from './free-port.ts'
import { type NatsServer, startNats } from './nats-server.ts'
import { type OwnPostgresServer, startOwnPostgres } from './postgres-server.ts'
import { answer, startPushEndpoint } from './push-endpoint.ts'
import { QUICK, type RelayProcess, startRelay } from './relay-process.ts'
import { mountSmallDisk } from './small-disk.ts'

setDefaultTimeout(240_000)
const SECRET = 'a secret of 32 characters or so!'
const DAY_MS = 86_400_000
const MIB = 1024 * 1024
const TOKEN = '0xdac17f958d2ee523a2206206994597c13d831ec7'

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

// Not in /tmp, which may be in memory.
async function newFolder(): Promise<string> {
  const folder = await mkdtemp('/var/tmp/sotto-doctor-')
  endings.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function newStore(): Promise<string> {
  const folder = await newFolder()
  await (await openSqlite(folder)).close()
  return folder
}

/** The hashes of the files in a folder, but not of the index that SQLite makes of a log to read it. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const name of (await readdir(folder)).filter((file) => file !== 'sotto.db-shm'))
    hashes[name] = new Bun.CryptoHasher('sha256')
      .update(await Bun.file(join(folder, name)).bytes())
      .digest('hex')
  return hashes
}

/** What a check says about these settings. @param aheadMs how far the clock is ahead */
async function look(
  check: Finding['check'],
  settings: Record<string, string>,
  aheadMs = 0,
): Promise<string[]> {
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const environment = { DATA_DIR: '/var/tmp/sotto-doctor-absent', ...settings }
  const findings = await examine(environment, { clock, randomBytes: systemRandom })
  return findings.filter((found) => found.check === check).map(({ state, says }) => `${state}: ${says}`)
}

describe('configuration', () => {
  test('a wrong setting is the only thing that is told', async () => {
    const findings = await examine({ PORT: 'many' })
    expect(findings.map(({ check, state }) => [check, state])).toEqual([['configuration', 'failed']])
    expect(findings[0]?.says).toStartWith('PORT is "many", but must be')
  })

  test('a price list that cannot be read, and a name that is mistyped, are told', async () => {
    const folder = await newFolder()
    await Bun.write(join(folder, 'prices.json'), '{')
    expect((await look('configuration', { VANITY_RULES: join(folder, 'prices.json') }))[0]).toStartWith(
      'failed: VANITY_RULES: ',
    )
    expect(await look('configuration', { MEDIA_DIRR: 'x' })).toEqual(['warning: MEDIA_DIRR is not a setting'])
    expect(await look('configuration', {})).toEqual(['ok: the settings can be used'])
  })
})

describe('clock', () => {
  test('one that is behind what the relay wrote, or that jumped, is told', async () => {
    const relay = await startRelay()
    endings.push(() => relay.stop())
    expect((await fetch(`${relay.url}/ready`)).status).toBe(200)
    expect(await look('clock', { DATA_DIR: relay.dataDir }, -7_200_000)).toEqual([
      'failed: it is 120 minutes behind the time at which a relay last wrote',
    ])
    expect((await look('clock', { DATA_DIR: relay.dataDir }))[0]).toMatch(/^(?:ok|warning): /)

    const folder = await newStore()
    const storage = await openSqlite(folder)
    let ahead = 0
    const clock = { now: () => Date.now() + ahead, monotonic: systemClock.monotonic }
    const trust = new ClockTrust({ storage, clock, log: createLog('silent') })
    ahead = DAY_MS
    await trust.check()
    await storage.close()
    expect(await look('clock', { DATA_DIR: folder })).toEqual(['failed: it jumped, so nothing expires'])
  })

  test('one that differs from PostgreSQL’s is told', async () => {
    const [, postgres] = engines
    const settings = (await postgres?.environment()) ?? {}
    expect(await look('clock', settings, 600_000)).toEqual([
      'failed: it differs from that of PostgreSQL by 10 minutes',
    ])
  })
})

test('disk: one in memory, one that is nearly full and one without space are told', async () => {
  await using disk = await mountSmallDisk(64)
  expect(await look('disk', { DATA_DIR: disk.folder })).toEqual([
    `failed: ${disk.folder} is in memory, so a restart of the machine loses everything`,
  ])
  disk.fillUpTo(MIB)
  expect((await look('disk', { DATA_DIR: disk.folder }))[0]).toMatch(/^failed: .* so nothing new is taken$/)
  const [found = ''] = await look('disk', { DATA_DIR: await newFolder(), DISK_RESERVE_BYTES: '0' })
  expect(found).toMatch(/^(?:ok|warning): .*a sync takes [\d.e-]+ ms/)
  // Both folders are on disks of their own.
  const both = { DATA_DIR: await newFolder(), MEDIA_DIR: disk.folder }
  expect(await look('disk', both)).toHaveLength(2)
})

describe('database', () => {
  test('on SQLite, a store that is absent, good or damaged is told', async () => {
    expect(await look('database', {})).toEqual(['ok: there is no store yet; the first start makes one'])
    const folder = await newStore()
    const file = join(folder, 'sotto.db')
    await chmod(file, 0o640)
    expect((await look('database', { DATA_DIR: folder }))[0]).toMatch(/^ok: SQLite, \d+ MiB, up to date$/)
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    const opening = async () => {
      const findings = await examine({ DATA_DIR: folder })
      return findings.find(({ check }) => check === 'database')
    }
    await Bun.write(file, 'this was a database'.repeat(1000))
    const unusable = { state: 'failed', says: expect.stringContaining('the store cannot be used: ') }
    expect(await opening()).toMatchObject({ ...unusable, advice: 'restore a backup (sotto restore)' })
    await rm(file)
    await mkdir(file) // A user who may not read it gets the same error of SQLite.
    expect(await opening()).toMatchObject({ ...unusable, advice: expect.stringContaining('as the user of') })
  })

  test('nothing in the folder changes, whether it is a copy, or a relay runs or was killed', async () => {
    const relay = await startRelay()
    endings.push(() => relay.stop())
    const restored = await newStore()
    using copy = new Database(join(restored, 'sotto.db'))
    copy.run('PRAGMA journal_mode = DELETE') // As in a copy that `VACUUM INTO` has made.
    copy.close()
    const killed = await newFolder()
    for (const name of ['sotto.db', 'sotto.db-wal']) await cp(join(relay.dataDir, name), join(killed, name))
    await rm(join(restored, 'lock.db'), { force: true })
    for (const folder of [restored, killed, await newStore()]) {
      const before = await contentsOf(folder)
      expect(Object.keys(before)).toContain('sotto.db')
      expect((await look('database', { DATA_DIR: folder }))[0]).toMatch(/^ok: SQLite/)
      expect(await contentsOf(folder)).toEqual(before)
    }
    expect((await look('database', { DATA_DIR: relay.dataDir }))[0]).toMatch(/^ok: SQLite/)
  })

  describe('on PostgreSQL', () => {
    let server: OwnPostgresServer
    beforeAll(async () => {
      server = await startOwnPostgres()
    })
    afterAll(() => server.stop())

    test('one that is empty, good, unsafe or away is told', async () => {
      const settings = { DATABASE_URL: await server.createDatabase() }
      expect(await look('database', settings)).toEqual([
        'warning: PostgreSQL has no tables, or those of another version',
      ])
      await (await openPostgres(settings.DATABASE_URL, { connections: 2 })).close()
      expect((await look('database', settings))[0]).toMatch(/^ok: PostgreSQL, \d+ MiB, up to date$/)
      await using sql = new Bun.SQL(server.url, { max: 1 })
      await sql`ALTER SYSTEM SET fsync = off`
      await server.restart()
      expect((await look('database', settings))[0]).toMatch(/^failed: .*fsync is off/)
      await server.crash()
      expect((await look('database', settings))[0]).toStartWith(
        'failed: DATABASE_URL: PostgreSQL cannot be used',
      )
    })
  })
})

describe('nodes of one PostgreSQL', () => {
  let nats: NatsServer
  beforeAll(async () => {
    nats = await startNats()
  })
  afterAll(() => nats.kill())

  const newDatabase = async (): Promise<Record<string, string>> => ({ ...(await engines[1]?.environment()) })
  const startNode = async (env: Record<string, string>): Promise<RelayProcess> => {
    const node = await startRelay({ env })
    endings.push(() => node.stop())
    return node
  }

  test('bus: PostgreSQL and NATS are tried, and a node that is not heard is told', async () => {
    expect(await look('bus', {})).toEqual(['unused: a relay with the embedded database is one node'])
    const shared = await newDatabase()
    expect(await look('bus', shared)).toEqual([
      expect.stringMatching(/^ok: PostgreSQL carries what nodes tell, in \d+ ms; nodes heard: 0$/),
    ])
    const one = await startNode(shared)
    const two = await startNode({ ...shared, NATS_URL: nats.url })
    const placeOf = ({ url }: RelayProcess): string => `${hostname()}:${new URL(url).port}`
    expect((await look('bus', shared))[0]).toEndWith(`but these nodes are not heard: ${placeOf(two)}`)
    const [found = ''] = await look('bus', { ...shared, NATS_URL: nats.url })
    expect(found).toMatch(/^warning: NATS carries what nodes tell, in \d+ ms/)
    expect(found).toEndWith(`not heard: ${placeOf(one)}`)
    const nowhere = { ...shared, NATS_URL: `nats://127.0.0.1:${await findFreePort()}` }
    expect((await look('bus', nowhere))[0]).toStartWith('failed: NATS refuses: ')
  })

  test('nodes: one with other settings, another version or another time, and a silent one, are told', async () => {
    const shared: Record<string, string> = { ...QUICK, ...(await newDatabase()) }
    expect(await look('nodes', shared)).toEqual(['ok: none runs'])
    const one = await startNode({ ...shared, LOG_LEVEL: 'error' })
    expect(await look('nodes', shared)).toEqual(['ok: 1, of one version and with the same settings'])
    const place = `${hostname()}:${new URL(one.url).port}`
    expect(
      await look('nodes', { ...shared, PUBLIC_URL: 'https://relay.example', TURN_SECRET: SECRET }),
    ).toEqual([`warning: ${place} has other values than these settings: PUBLIC_URL, TURN_SECRET`])
    await one.kill('SIGKILL')
    await using sql = new Bun.SQL(shared.DATABASE_URL ?? '', { max: 1 })
    await sql`INSERT INTO nodes SELECT 'fast', 'fast:1', '0.0.9', schema_known, settings, started_at,
      seen_at + 3600000, 90000, 0, 0, 0, 1 FROM nodes`
    await sql`UPDATE nodes SET seen_at = seen_at - 3600000 WHERE node <> 'fast'`
    const found = await look('nodes', shared)
    expect(found).toContain('warning: the clock of fast:1 is 90 s ahead of that of PostgreSQL')
    expect(found).toContain(`warning: fast:1 has version 0.0.9, and this is ${version}`)
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^warning: ${place} has been silent for 36\\d\\d s$`)),
    )
  })
})

test('certificate: one that is missing, for another host, soon at its end or expired is told', async () => {
  const folder = await newFolder()
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const settings = { TLS_CERT: cert, TLS_KEY: key, PUBLIC_URL: 'https://localhost' }
  expect((await look('certificate', settings))[0]).toStartWith('failed: it cannot be served: ')
  const put = async (host: string): Promise<void> => {
    const made = certify([host])
    await Bun.write(cert, made.cert)
    await Bun.write(key, made.key)
  }
  await put('relay.example')
  expect((await look('certificate', settings))[0]).toStartWith(
    'failed: it cannot be served: it is not for localhost',
  )
  await put('localhost')
  expect((await look('certificate', settings))[0]).toMatch(/^ok: it ends in 0 days/)
  expect((await look('certificate', settings, DAY_MS * 0.9))[0]).toStartWith('warning: it ends in 0 days')
  expect((await look('certificate', settings, 2 * DAY_MS))[0]).toMatch(
    /^failed: it ended .* clients refuse it$/,
  )
  expect(await look('certificate', {})).toEqual(['unused: the relay speaks no TLS itself; a proxy must'])
})

test('address: a name without an address, a port without a relay and another server are told', async () => {
  const [nowhere = ''] = await look('address', { PUBLIC_URL: 'https://nowhere.invalid' })
  expect(nowhere).toStartWith('failed: no address of nowhere.invalid can be found')
  const relay = await startRelay()
  endings.push(() => relay.stop())
  const at = (PUBLIC_URL: string) => look('address', { PUBLIC_URL, DATA_DIR: relay.dataDir })
  expect((await at(relay.url))[0]).toBe(
    'warning: the relay answers, but 127.0.0.1 leads to 127.0.0.1, which is not on the internet',
  )
  const closed = `http://127.0.0.1:${await findFreePort()}`
  expect(await at(closed)).toEqual([`failed: ${closed}/health: no connection`])
  expect(await look('address', { PUBLIC_URL: closed })).toEqual([`warning: ${closed}/health: no connection`])
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
  endings.push(() => other.stop(true))
  expect((await at(`http://127.0.0.1:${other.port}`))[0]).toContain('something else answers there (HTTP 200)')
})

describe('turn', () => {
  let coturn: Coturn
  beforeAll(async () => {
    coturn = await startCoturn(SECRET)
  })
  afterAll(() => coturn.stop())

  test('a server gives an address over UDP and TCP, and sees where it is asked from', async () => {
    const at = `127.0.0.1:${coturn.port}`
    const settings = {
      TURN_URLS: `turn:${at},turn:${at}?transport=tcp`,
      TURN_SECRET: SECRET,
      STUN_URLS: `stun:${at}`,
    }
    expect(await look('turn', settings)).toEqual([
      `ok: turn:${at}: it gave the address 127.0.0.1`,
      `ok: turn:${at}?transport=tcp: it gave the address 127.0.0.1`,
      `ok: stun:${at}: it sees this machine as 127.0.0.1`,
    ])
  })

  test('another secret, a port without a server and a server that is something else are told', async () => {
    const secret = { TURN_URLS: `turn:127.0.0.1:${coturn.port}`, TURN_SECRET: `${SECRET} no` }
    expect((await look('turn', secret))[0]).toEndWith('it refuses the credentials')
    const closed = `turn:127.0.0.1:${await findFreePort()}?transport=tcp`
    expect((await look('turn', { TURN_URLS: closed, TURN_SECRET: SECRET }))[0]).toStartWith(
      `failed: ${closed}: it does not answer`,
    )
    const web = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
    endings.push(() => web.stop(true))
    const other = { TURN_URLS: `turn:127.0.0.1:${web.port}?transport=tcp`, TURN_SECRET: SECRET }
    expect((await look('turn', other))[0]).toStartWith('failed: ')
  })
})

test('push: a missing contact, a service that fails and a key that Firebase refuses are told', async () => {
  expect(await look('push', {})).toEqual(['warning: push services are told no contact, and some refuse that'])
  const folder = await newStore()
  const settings = { DATA_DIR: folder, PUSH_SUBJECT: 'mailto:ada@relay.example' }
  expect(await look('push', settings)).toEqual(['ok: 0 subscriptions'])
  const storage = await openSqlite(folder)
  await storage.transaction(async (sql) => {
    await sql`INSERT INTO accounts (uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
      VALUES ('u', 'a', 'n', 'e', 'x', 0)`
    await sql`INSERT INTO push_subscriptions (account_id, kind, target, p256dh, auth, kid, host, subscribed_at, failing_since)
      VALUES (1, 'web', 't', '', '', '', 'push.test', 0, 1)`
  })
  await storage.close()
  expect(await look('push', settings)).toEqual(['warning: pushes fail at push.test (1 of 1)'])

  const service = await startPushEndpoint()
  endings.push(() => service.stop())
  service.on('/token', answer(400))
  const file = join(folder, 'key.json')
  await Bun.write(file, serviceAccount(service.url('/token')))
  const found = await look('push', { ...settings, FCM_SERVICE_ACCOUNT: file })
  expect(found[1]).toMatch(/^failed: Firebase gives no access \(/)
  await Bun.write(file, '{}')
  const broken = await look('push', { ...settings, FCM_SERVICE_ACCOUNT: file })
  expect(broken[1]).toMatch(/^failed: .*service account/)
})

test('payments: endpoints that are away, of another chain or behind are told', async () => {
  const chain = await startChain()
  endings.push(() => chain.stop())
  const settings = {
    ...{ PAYMENTS: 'evm', EVM_CHAIN_ID: String(chain.chainId), EVM_TOKEN: TOKEN, EVM_XPUB: XPUB },
    EVM_RPC_URLS: chain.url,
  }
  expect(await look('payments', settings)).toEqual([`ok: evm:31337: ${new URL(chain.url).host}`])
  expect((await look('payments', { ...settings, EVM_CHAIN_ID: '1' }))[0]).toContain(
    'its chain is 31337, where 1 was expected',
  )
  const closed = `http://localhost:${await findFreePort()}`
  expect((await look('payments', { ...settings, EVM_RPC_URLS: closed }))[0]).toMatch(
    /^failed: .*0 of 1 endpoints can be used.*it cannot be reached/,
  )
  expect(
    (await look('payments', { ...settings, EVM_RPC_URLS: `${chain.url},${closed}`, EVM_AGREE: '1' }))[0],
  ).toMatch(/^warning: .*it cannot be reached/)
  expect((await look('payments', settings, 7_200_000))[0]).toContain('its newest block is 120 minutes old')
  expect((await look('payments', { PAYMENTS: 'dev' }))[0]).toStartWith('warning: PAYMENTS=dev')
})

function serviceAccount(token_uri: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return JSON.stringify({ project_id: 'sotto', client_email: 'relay@sotto.example', private_key, token_uri })
}
