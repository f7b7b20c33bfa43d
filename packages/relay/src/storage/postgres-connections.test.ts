// What the relay asks of the sessions of PostgreSQL, and what it does when there are too few, or when they
// are slow.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { eventually } from '../../test/payment-watch.ts'
import { type OwnPostgresServer, startOwnPostgres } from '../../test/postgres-server.ts'
import { startTcpProxy } from '../../test/tcp-proxy.ts'
import { DatabaseUnavailable } from './database-errors.ts'
import { openPostgres } from './postgres.ts'
import type { Storage } from './storage.ts'

setDefaultTimeout(240_000)

let server: OwnPostgresServer
let url: string
let storage: Storage

beforeAll(async () => {
  server = await startOwnPostgres()
  url = await server.createDatabase()
  await using admin = new SQL(server.url, { max: 1 })
  // On a busy machine, a test needs longer than the usual second to make a deadlock.
  await admin.unsafe(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET deadlock_timeout = '5s'`)
  storage = await openPostgres(url, { connections: 3 })
})
afterAll(async () => {
  await storage.close()
  await server.stop()
})

function engineOf({ engine }: Storage) {
  if (engine.dialect !== 'postgres') throw new Error('not PostgreSQL')
  return engine
}

test('every session ends statements, waiting for locks and silent transactions after a while', async () => {
  const settings = ({ sql }: Pick<Storage, 'sql'>) => sql<{ name: string; setting: string }>`
    SELECT name, setting FROM pg_settings WHERE source = 'client'
      AND (name LIKE '%timeout' OR name LIKE 'tcp_keepalives%' OR name = 'client_connection_check_interval')
    ORDER BY name`
  const expected = [
    { name: 'client_connection_check_interval', setting: '5000' },
    { name: 'idle_in_transaction_session_timeout', setting: '10000' },
    { name: 'lock_timeout', setting: '20000' },
    { name: 'statement_timeout', setting: '30000' },
    { name: 'tcp_keepalives_count', setting: '3' },
    { name: 'tcp_keepalives_idle', setting: '10' },
    { name: 'tcp_keepalives_interval', setting: '5' },
    { name: 'tcp_user_timeout', setting: '20000' },
  ]
  expect(await settings(storage)).toEqual(expected)
  expect(await engineOf(storage).commitMessages((sql) => settings({ sql }))).toEqual(expected)
})

test('messages are committed while requests use all other connections', async () => {
  await using admin = new SQL(url, { max: 1 })
  await admin`SELECT pg_advisory_lock(7)`
  const slow = [1, 2, 3, 4].map(() => storage.sql`SELECT pg_advisory_xact_lock_shared(7) IS NULL AS never`)
  let isSlow = true
  void Promise.all(slow).then(() => {
    isSlow = false
  })
  await engineOf(storage).commitMessages((sql) => sql`SELECT 1`)
  expect(isSlow).toBe(true)
  await admin`SELECT pg_advisory_unlock(7)`
  await Promise.all(slow)
})

test('work beyond what may wait is refused at once, and the rest is done', async () => {
  const refusals: string[] = []
  const fail = (): never => {
    throw new Error('the database was there')
  }
  engineOf(storage).follow({ away: fail, back: fail, refused: (reason) => refusals.push(reason) })
  const waiting = Array.from({ length: 600 }, () => storage.sql`SELECT pg_sleep(0.001) AS slept`)
  expect(await failureOf(storage.sql`SELECT 1`)).toBeInstanceOf(DatabaseUnavailable)
  expect(await failureOf(storage.transaction((sql) => sql`SELECT 1`))).toBeInstanceOf(DatabaseUnavailable)
  await Promise.all(waiting)
  expect(refusals).toEqual(Array(2).fill('more than 600 queries and transactions wait for it'))
  expect(await storage.sql<{ one: number }>`SELECT 1 AS one`).toEqual([{ one: 1 }])
})

test('what lost a deadlock with a change of tables runs again, also if it only reads', async () => {
  await using admin = new SQL(server.url, { max: 1 })
  await using sql = new SQL(url, { max: 1 })
  await sql`CREATE TABLE locked_first AS SELECT 1 AS one`
  await sql`CREATE TABLE locked_last AS SELECT 1 AS one`
  const read = (tag: Storage['sql']): Promise<object> =>
    tag`SELECT locked_first.one FROM locked_first JOIN locked_last USING (one)`
  const ways = [
    () => read(storage.sql),
    () => storage.transaction(read),
    () => engineOf(storage).commitMessages(read),
  ]
  for (const run of ways) {
    let reading: Promise<object> | undefined
    await sql.begin(async (change) => {
      // The other side of the deadlock is the one that gives up.
      await change`SET LOCAL deadlock_timeout = '1h'`
      await change`LOCK TABLE locked_last IN ACCESS EXCLUSIVE MODE`
      reading = run()
      await eventually(async () => {
        const [waiting] = await admin`SELECT 1 FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%JOIN locked_last%' AND pid <> pg_backend_pid()`
        expect(waiting).toBeDefined()
      })
      await change`LOCK TABLE locked_first IN ACCESS EXCLUSIVE MODE`
    })
    expect(await reading).toEqual([{ one: 1 }])
  }
})

test('a server without a connection left is a refusal, until it has one', async () => {
  const others = new SQL(server.url, { max: 100 })
  const admin = new SQL(server.url, { max: 1 })
  await admin`SELECT 1`
  const fresh = await openPostgres(url, { connections: 2 })
  await eventually(async () => {
    // Again each time: it may be connected again before the others have taken what is left.
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sotto'`
    // They take what is left, and the rest of them is refused.
    await Promise.allSettled(Array.from({ length: 100 }, () => others`SELECT pg_sleep(0.5)`))
    expect(await failureOf(fresh.transaction((sql) => sql`SELECT 1`))).toBeInstanceOf(DatabaseUnavailable)
  })
  await others.close()
  await eventually(async () =>
    expect(await fresh.sql<{ one: number }>`SELECT 1 AS one`).toEqual([{ one: 1 }]),
  )
  await Promise.all([fresh.close(), admin.close()])
})

test('a database that answers slowly is used, and one that answers too slowly is away until it is faster', async () => {
  const network = await startTcpProxy(Number(new URL(url).port))
  const slow = await openPostgres(url.replace(/:\d+\//, `:${network.port}/`), { connections: 2 })
  const seen: string[] = []
  engineOf(slow).follow({
    away: (reason) => seen.push(reason),
    back: () => seen.push('back'),
    refused: (reason) => seen.push(reason),
  })
  network.delay(300)
  expect(await slow.transaction((sql) => sql<{ one: number }>`SELECT 1 AS one`)).toEqual([{ one: 1 }])
  expect(seen).toEqual([])
  network.delay(30_000)
  expect(await failureOf(slow.sql`SELECT 1`)).toBeInstanceOf(DatabaseUnavailable)
  expect(seen).toEqual(['it does not answer'])
  network.delay(0)
  await eventually(() => expect(seen.at(-1)).toBe('back'))
  expect(await slow.sql<{ one: number }>`SELECT 1 AS one`).toEqual([{ one: 1 }])
  await slow.close()
  await network.stop()
})
