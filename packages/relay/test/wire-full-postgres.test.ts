// A PostgreSQL whose disk is full, which the relay cannot see: its answers lead to the same refusals.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { SQL } from 'bun'
import { expectProblem } from './expect.ts'
import { eventually } from './payment-watch.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { untilLogged } from './until-logged.ts'
import { errorLines } from './use-relay.ts'
import { call, message, WireAccount, wireAccount, wireFriends } from './wire.ts'

setDefaultTimeout(240_000)

// Random, because PostgreSQL compresses: a hundred compressed messages fit into pages that a vacuum frees.
const PAYLOAD = randomBytes(30_000).toString('base64')

let disk: SmallDisk
let server: PostgresServer
let admin: SQL
let relay: RelayProcess

beforeAll(async () => {
  disk = await mountSmallDisk(40, '777')
  // PostgreSQL wants the folder of a tablespace to be its own.
  const place = `${disk.folder}/tablespace`
  server = await startPostgres()
  admin = new SQL(server.url, { max: 1 })
  const [row] = await admin`SELECT current_setting('data_directory') AS folder`
  const owned = spawnSync('sh', ['-c', `mkdir "$1" && chown --reference="$2" "$1"`, 'sh', place, row.folder])
  if (owned.status !== 0) throw new Error(`the folder of the tablespace: ${owned.stderr}`)
  await admin.unsafe(`CREATE TABLESPACE small LOCATION '${place}'`)
  await admin.unsafe('CREATE DATABASE small TABLESPACE small')
  const url = new URL(server.url)
  url.pathname = '/small'
  relay = await startRelay({ env: { DATABASE_URL: url.href, LOG_LEVEL: 'info' } })
})

afterAll(async () => {
  await relay?.stop()
  await admin?.unsafe('DROP DATABASE IF EXISTS small WITH (FORCE)')
  await admin?.unsafe('DROP TABLESPACE IF EXISTS small')
  await admin?.end()
  await server?.stop()
  await disk?.remove()
})

test('a PostgreSQL without space refuses what is new, and takes confirmations and deletions until there is space', async () => {
  const { alice, bob, conv } = await wireFriends(relay.url)
  const [{ socket: sending }, { socket: receiving }] = [await alice.online(), await bob.online()]
  // The first row of a table or an index needs a page, which later rows and confirmations share.
  sending.send(message(bob.alias, conv, 'first'))
  receiving.send({ type: 'read', conv_id: conv, seq: (await sending.next('ack')).seq, to: alice.alias })
  await sending.next('read')
  sending.send(message(bob.alias, conv, 'before'))
  const { seq } = await sending.next('ack')
  const carol = await wireAccount(relay.url)
  const channel = (await alice.post('/channels', { name: 'Before' })).body.channel_id
  disk.fillUpTo(0)

  let refused: Record<string, unknown> | undefined
  for (let sent = 0; refused === undefined && sent < 100; sent++) {
    sending.send(message(bob.alias, conv, PAYLOAD, `m${sent}`))
    const answer = await sending.next()
    if (answer.type !== 'ack') refused = answer
  }
  expect(refused).toMatchObject({ type: 'error', error: 'RELAY_FULL', retry_after_ms: expect.any(Number) })
  expect(await call(`${relay.url}/ready`)).toMatchObject({ status: 200, body: { storage: 'full' } })
  const newcomer = new WireAccount(relay.url)
  expectProblem(await call(newcomer.api('/pow/challenge'), { method: 'POST' }), 507, 'RELAY_FULL')
  expectProblem(await alice.post('/channels', { name: 'After' }), 507, 'RELAY_FULL')

  receiving.send({ type: 'read', conv_id: conv, seq, to: alice.alias })
  expect(await sending.next('read')).toMatchObject({ conv_id: conv, seq })
  expect((await alice.bare('DELETE', `/channels/${channel}`)).status).toBe(200)
  expect((await carol.bare('DELETE', '/me')).status).toBe(200)

  disk.empty()
  await eventually(async () => {
    sending.send(message(bob.alias, conv, PAYLOAD, String(refused?.id)))
    expect(await sending.next()).toMatchObject({ type: 'ack', id: refused?.id })
  })
  // `/ready` tries to write at most once a second, so its answer can be a second old.
  await eventually(async () =>
    expect(await call(`${relay.url}/ready`)).toMatchObject({ status: 200, body: { storage: 'ok' } }),
  )
  await untilLogged(relay, 'storage_full')
  expect(errorLines(relay.errors()).map((line) => JSON.parse(line).event)).toEqual(['storage_full'])
  expect(relay.errors()).toContain('"databaseBytes":')
})
