// A PostgreSQL whose settings would lose acknowledged messages: the relay overrides what it can override, and
// refuses or reports the rest.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { failureOf } from '../../protocol/test/failure-of.ts'

import { DurabilityCheck } from '../src/operations/durability-check.ts'
import type { LogFields } from '../src/operations/log.ts'
import { OperatorError, operatorCommands } from '../src/operator.ts'
import { openPostgres } from '../src/storage/postgres.ts'
import { eventually } from './payment-watch.ts'
import { type OwnPostgresServer, startOwnPostgres } from './postgres-server.ts'
import { startRelay } from './relay-process.ts'
import { call, message, wireFriends } from './wire.ts'

let server: OwnPostgresServer
let admin: SQL

beforeAll(async () => {
  server = await startOwnPostgres()
  admin = new SQL(server.url, { max: 1 })
  // A background process would otherwise sync an unsynced commit within 0.2 seconds and hide it.
  await configure('wal_writer_delay', '10s')
}, 90_000)
afterAll(async () => {
  await admin.close()
  await server.stop()
})

/** Changes a setting of the server and waits until new queries see it. */
async function configure(name: string, value: string): Promise<void> {
  await admin.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)
  await admin.unsafe('SELECT pg_reload_conf()')
  await eventually(async () => {
    const [row] = await admin.unsafe(`SHOW ${name}`)
    expect(row[name]).toBe(value)
  })
}

/** An empty database that turns `synchronous_commit` off for everybody who connects to it. */
async function databaseWithoutSync(): Promise<string> {
  const url = await server.createDatabase()
  await admin.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
  return url
}

test('every connection of the pool waits for the sync, whatever the database or the URL says', async () => {
  const url = await databaseWithoutSync()
  for (const each of [url, `${url}?synchronous_commit=off`, `${url}?options=-c%20synchronous_commit%3Doff`]) {
    const storage = await openPostgres(each, { connections: 3 })
    const settingOf = (run: typeof storage.transaction): Promise<string | undefined> =>
      run(async (sql) => {
        // Long enough that the three transactions use three connections.
        const [row] = await sql<{ setting: string }>`
          SELECT current_setting('synchronous_commit') AS setting, pg_sleep(0.05)`
        return row?.setting
      })
    const all = (run: typeof storage.transaction) => Promise.all([1, 2, 3].map(() => settingOf(run)))
    expect(await all(storage.transaction)).toEqual(['on', 'on', 'on'])
    expect(await all(storage.unsyncedTransaction)).toEqual(['off', 'off', 'off'])
    expect(await all(storage.transaction)).toEqual(['on', 'on', 'on'])
    await storage.close()
  }
}, 120_000)

test('an acknowledged message is synced and survives a crash, although the database says synchronous_commit = off', async () => {
  const relay = await startRelay({ env: { DATABASE_URL: await databaseWithoutSync() } })
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = await alice.connect()
  const ids: string[] = []
  // The server and the relay write other records, too, perhaps between an ack and this question. So most of
  // the answers must be 0. Without the sync hardly any is: nothing else syncs for ten seconds.
  for (let lead = 0; lead < 3; ) {
    const id = `m${ids.length + 1}`
    expect(ids.length).toBeLessThan(40)
    sender.send(message(bob.alias, conv, 'x'.repeat(300), id))
    await sender.next('ack')
    ids.push(id)
    const [row] = await admin`
      SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn())::int AS bytes`
    lead += row.bytes === 0 ? 1 : -1
  }
  await server.crash()
  await server.restart()
  await eventually(async () => expect((await call(`${relay.url}/ready`)).status).toBe(200))
  const received = await bob.connect()
  expect((await received.take(ids.length, 'msg')).map(({ id }) => id)).toEqual(ids)
  await relay.stop()
}, 120_000)

test('neither a relay nor an operator’s command works on a PostgreSQL with fsync off', async () => {
  const DATABASE_URL = await server.createDatabase()
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'sotto-durability-'))
  await configure('fsync', 'off')
  try {
    const env = { DATABASE_URL }
    expect(String(await failureOf(startRelay({ env })))).toContain(
      'fsync is off in the PostgreSQL of DATABASE_URL',
    )
    const refused = await failureOf(operatorCommands['after-restore']({ DATABASE_URL, DATA_DIR }))
    expect(refused).toBeInstanceOf(OperatorError)
    // Refused before anything was written.
    await using sql = new SQL(DATABASE_URL, { max: 1 })
    expect([...(await sql`SELECT to_regclass('schema_migrations') AS found`)]).toEqual([{ found: null }])
  } finally {
    await configure('fsync', 'on')
    await rm(DATA_DIR, { recursive: true, force: true })
  }
}, 120_000)

test('full_page_writes off is a warning in the log and in /ready', async () => {
  await configure('full_page_writes', 'off')
  try {
    const relay = await startRelay({ env: { DATABASE_URL: await server.createDatabase() } })
    await eventually(() => expect(relay.errors()).toContain('"event":"database_not_durable"'))
    expect(relay.errors()).toContain('full_page_writes is off')
    const ready = await call(`${relay.url}/ready`)
    expect([ready.status, ready.body.durability]).toEqual([200, 'full_page_writes_off'])
    await relay.stop()
  } finally {
    await configure('full_page_writes', 'on')
  }
}, 120_000)

test('a setting that changes while the relay runs is logged once, and again when it is mended', async () => {
  const storage = await openPostgres(await server.createDatabase(), { connections: 2 })
  const lines: [string, LogFields['reason']][] = []
  const line = (event: string, fields?: LogFields): void => void lines.push([event, fields?.reason])
  const check = new DurabilityCheck({ storage, log: { error: line, warn: line, info: line, debug: line } })
  await check.run()
  expect([check.state, lines]).toEqual(['ok', []])
  await configure('fsync', 'off')
  try {
    await check.run()
    await check.run()
    expect(check.state).toBe('fsync_off')
    expect(lines).toEqual([['database_not_durable', expect.stringContaining('fsync is off')]])
  } finally {
    await configure('fsync', 'on')
  }
  await check.run()
  expect([check.state, lines.at(-1)?.[0]]).toEqual(['ok', 'database_durable_again'])
  await storage.close()
}, 120_000)
