// A relay that cannot start names the wrong setting at once, with its value and what would be right.
import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { systemClock } from '../src/operations/clock.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import { startRelay as startHere } from '../src/relay.ts'
import { explain, StartError } from '../src/start-error.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import { findFreePort } from './free-port.ts'
import { eventually } from './payment-watch.ts'
import { startPostgres } from './postgres-server.ts'
import { startRelay } from './relay-process.ts'
import { mountSmallDisk } from './small-disk.ts'
import { untilLogged } from './until-logged.ts'
import { call } from './wire.ts'

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-start-'))
  folders.push(folder)
  return folder
}

/** An address that this machine does not have. */
const ABROAD = { HOST: '192.0.2.1', PUBLIC_URL: 'https://relay.example' }

/** The message for an operator who starts a relay with these settings. */
async function complaint(environment: Record<string, string>): Promise<string> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: 'silent', ...environment })
  const parts = { clock: systemClock, randomBytes: systemRandom, log: createLog('silent') }
  const failure = await startHere(config, parts).then(
    async (relay) => {
      await relay.stop()
      return undefined
    },
    (error: unknown) => explain(error, config),
  )
  return failure instanceof StartError ? failure.message : `no complaint: ${failure}`
}

test('a relay does not start on a port that is taken', async () => {
  const relay = await startRelay()
  const { port } = new URL(relay.url)
  expect(await complaint({ PORT: port, DATA_DIR: await temporaryFolder() })).toBe(
    `PORT is "${port}", but something else listens there; choose another`,
  )
  await relay.stop()
})

/** A server on a port that is free again after its end, also while other programs connect. */
async function startOther() {
  return Bun.serve({ port: await findFreePort(), hostname: '127.0.0.1', fetch: () => new Response() })
}

test('a relay does not start without its port of metrics, and leaves its store to the next one', async () => {
  const taken = await startOther()
  const settings = { METRICS_PORT: String(taken.port), DATA_DIR: await temporaryFolder() }
  expect(await complaint(settings)).toStartWith(
    'METRICS_PORT must be a port of METRICS_HOST on which this user may listen and nothing else does: ',
  )
  await taken.stop(true)
  expect(await complaint(settings)).toBe('no complaint: undefined')
})

test('a relay that failed to start leaves the port that sends browsers to https', async () => {
  const taken = await startOther()
  const httpPort = await findFreePort()
  const settings = {
    ...{ PORT: String(taken.port), HTTP_PORT: String(httpPort), PUBLIC_URL: 'https://relay.example' },
    DATA_DIR: await temporaryFolder(),
  }
  expect(await complaint(settings)).toContain('something else listens there')
  await taken.stop(true)
  expect(await complaint(settings)).toBe('no complaint: undefined')
})

test('a failure during the start is told, even if a signal came before', async () => {
  const fields = 'SFATAL\0C28000\0Mnobody may come in\0\0'
  const refusal = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.of(fields.length + 4), Buffer.from(fields)])
  const server = createServer((socket) => {
    socket.on('error', () => undefined) // The relay under test notices by itself.
    child.kill('SIGTERM')
    // It asks for TLS first, then says who it is. The signal arrives before that.
    socket.once('data', () => {
      socket.write('N')
      socket.once('data', () => socket.write(refusal))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'relay-main.ts')], {
    env: {
      ...{ PATH: process.env.PATH ?? '', PORT: '0', LOG_LEVEL: 'info', DATA_DIR: await temporaryFolder() },
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none?sslmode=prefer`,
    },
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  })
  const said = await new Response(child.stderr).text()
  expect(said).toContain('DATABASE_URL names a PostgreSQL that cannot be used: nobody may come in')
  expect(said).not.toContain('"event":"stopped"')
  expect(await child.exited).toBe(1)
  server.close()
})

test('a relay does not start on an address of another machine', async () => {
  expect(await complaint({ ...ABROAD, DATA_DIR: await temporaryFolder() })).toStartWith(
    'HOST is "192.0.2.1", but must be an address of this machine',
  )
})

test('a relay does not start in a folder that another relay uses, which keeps running', async () => {
  const relay = await startRelay()
  expect(await complaint({ DATA_DIR: relay.dataDir })).toBe(`${relay.dataDir} is in use by another relay`)
  expect((await call(`${relay.url}/ready`)).status).toBe(200)
  await relay.stop()
})

test('a relay does not start if its folder is a file or its database is not a database', async () => {
  const folder = await temporaryFolder()
  await Bun.write(join(folder, 'file'), 'a file')
  expect(await complaint({ DATA_DIR: join(folder, 'file') })).toContain(
    `DATA_DIR is "${join(folder, 'file')}", but`,
  )
  await Bun.write(
    join(folder, 'sotto.db'),
    'not a database, but long enough to be looked at as if it were one',
  )
  expect(await complaint({ DATA_DIR: folder })).toContain('file is not a database')
})

test('a relay does not start on a disk without space, and says so', async () => {
  await using disk = await mountSmallDisk(1)
  disk.fillUpTo(0)
  expect(await complaint({ DATA_DIR: disk.folder })).toMatch(
    /^DATA_DIR is ".*", but it cannot be used: .*full/,
  )
})

test('a relay does not start if PostgreSQL is unreachable or has no such database', async () => {
  expect(await complaint({ DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' })).toStartWith(
    'DATABASE_URL names a PostgreSQL that cannot be used',
  )
  const url = new URL(await (await startPostgres()).createDatabase())
  url.pathname = '/no_such_database'
  const said = await complaint({ DATABASE_URL: url.href })
  expect(said).toContain('"no_such_database" does not exist')
})

test('a relay that failed to start has released its store', async () => {
  const folder = await temporaryFolder()
  await complaint({ ...ABROAD, DATA_DIR: folder })
  expect(await complaint({ HOST: '127.0.0.1', DATA_DIR: folder })).toBe('no complaint: undefined')
})

test('a relay erases at its start what a deleted channel left', async () => {
  const folder = await temporaryFolder()
  const storage = await openSqlite(folder)
  await storage.transaction(async (sql) => {
    await sql`INSERT INTO channel_subscriptions (account_id, channel, created_at) VALUES (1, 7, 1)`
    await sql`INSERT INTO channel_purges (channel, owner_id) VALUES (7, 1)`
  })
  await storage.close()
  const relay = await startRelay({ env: { DATA_DIR: folder } })
  const reader = new Database(join(folder, 'sotto.db'), { readonly: true })
  await eventually(() => {
    expect(reader.query('SELECT * FROM channel_purges').all()).toEqual([])
    expect(reader.query('SELECT * FROM channel_subscriptions').all()).toEqual([])
  })
  reader.close()
  await relay.stop()
})

test('a relay warns of each unknown name that begins like a setting, without its value', async () => {
  const relay = await startRelay({ env: { EVM_RPC_URL: 'https://user:secret@rpc.example', PUSH_ALOW: '' } })
  await untilLogged(relay, 'setting_unknown', { times: 2 })
  const lines = relay.errors().split('\n')
  const warnings = lines.filter((line) => line.includes('setting_unknown')).map((line) => JSON.parse(line))
  expect(warnings.map(({ level, setting, reason }) => [level, setting, reason])).toEqual([
    ['warn', 'EVM_RPC_URL', 'there is no such setting; the nearest one is EVM_RPC_URLS'],
    ['warn', 'PUSH_ALOW', 'there is no such setting; the nearest one is PUSH_ALLOW'],
  ])
  expect(relay.errors()).not.toContain('secret')
  await relay.stop()
})

test('after SIGTERM or SIGINT the process ends by itself, with success', async () => {
  const relay = await startRelay()
  expect(await relay.kill('SIGTERM')).toBe(0)
  await relay.start()
  expect(await relay.kill('SIGINT')).toBe(0)
  await relay.stop()
})
