// The PostgreSQL server for tests: it keeps committed data, and it leaves nothing behind.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { type PostgresServer, startOwnPostgres, startPostgres } from './postgres-server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

test('each database is new, empty and separate', async () => {
  const [first, second] = await Promise.all([server.createDatabase(), server.createDatabase()])
  expect(first).not.toBe(second)
  await query(first, 'CREATE TABLE only_here (id integer)')
  expect(await query(second, "SELECT to_regclass('only_here') AS found")).toEqual([{ found: null }])
})

test('a copy of a database has its data and is separate from it', async () => {
  const url = await server.createDatabase()
  await query(url, 'CREATE TABLE copied (id integer); INSERT INTO copied VALUES (7)')
  const copy = await server.createDatabase(url)
  await query(copy, 'INSERT INTO copied VALUES (8)')
  expect(await query(copy, 'SELECT id FROM copied')).toEqual([{ id: 7 }, { id: 8 }])
  expect(await query(url, 'SELECT id FROM copied')).toEqual([{ id: 7 }])
})

test('it has fsync on, and listens only on the loopback, on a port below those of outgoing connections', async () => {
  const [settings] = await query(
    server.url,
    "SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses",
  )
  expect(settings).toEqual({ fsync: 'on', addresses: '127.0.0.1' })
  expect(Number(new URL(server.url).port)).toBeLessThan(32_768)
})

test('committed data survives a crash', async () => {
  const own = await startOwnPostgres()
  const url = await own.createDatabase()
  await query(url, 'CREATE TABLE kept (id integer); INSERT INTO kept VALUES (7)')
  await own.crash()
  expect(await failureOf(query(url, 'SELECT 1'))).toBeInstanceOf(Error)
  await own.restart()
  expect(await query(url, 'SELECT id FROM kept')).toEqual([{ id: 7 }])
  await own.stop()
})

test('a second startPostgres() shares the server, which runs until the last one stops it', async () => {
  const other = await startPostgres()
  expect(other.url).toBe(server.url)
  await other.stop()
  await other.stop()
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a test process that is killed leaves no server and no folder', async () => {
  const program = `
    import { startPostgres } from ${JSON.stringify(join(import.meta.dir, 'postgres-server.ts'))}
    import { SQL } from 'bun'
    const { url } = await startPostgres()
    const [row] = await new SQL(url)\`SELECT current_setting('data_directory') AS folder\`
    console.log(JSON.stringify({ url, folder: row.folder }))
    await Bun.sleep(60_000)`
  const tests = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const { value } = await tests.stdout.getReader().read()
  const { url, folder } = JSON.parse(new TextDecoder().decode(value))
  expect(existsSync(folder)).toBe(true)

  tests.kill('SIGKILL')
  await tests.exited
  for (let triesLeft = 600; triesLeft > 0 && existsSync(folder); triesLeft--) await Bun.sleep(50)
  expect(existsSync(folder)).toBe(false)
  expect(await failureOf(query(url, 'SELECT 1'))).toBeInstanceOf(Error)
})

async function query(url: string, text: string): Promise<unknown[]> {
  await using sql = new SQL(url, { max: 1, connectionTimeout: 5 })
  return [...(await sql.unsafe(text))]
}
