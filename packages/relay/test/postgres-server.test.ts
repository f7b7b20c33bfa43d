// The PostgreSQL that tests run on: does it keep what it must, and leave nothing behind?
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

test('each database is new, empty and apart', async () => {
  const [first, second] = await Promise.all([server.createDatabase(), server.createDatabase()])
  expect(first).not.toBe(second)
  await query(first, 'CREATE TABLE only_here (id integer)')
  expect(await query(second, "SELECT to_regclass('only_here') AS found")).toEqual([{ found: null }])
})

test('it syncs, and listens on the loopback only, below the ports of outgoing connections', async () => {
  const [settings] = await query(
    server.url,
    "SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses",
  )
  expect(settings).toEqual({ fsync: 'on', addresses: '127.0.0.1' })
  expect(Number(new URL(server.url).port)).toBeLessThan(32_768)
})

test('what was committed before a crash is there after it', async () => {
  const url = await server.createDatabase()
  await query(url, 'CREATE TABLE kept (id integer); INSERT INTO kept VALUES (7)')
  await server.crash()
  await expect(query(url, 'SELECT 1')).rejects.toThrow()
  await server.restart()
  expect(await query(url, 'SELECT id FROM kept')).toEqual([{ id: 7 }])
})

test('a second user shares the server, and it outlives the first to stop', async () => {
  const other = await startPostgres()
  expect(other.url).toBe(server.url)
  await other.stop()
  await other.stop()
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a test process killed outright leaves no server and no folder', async () => {
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
  await expect(query(url, 'SELECT 1')).rejects.toThrow()
})

async function query(url: string, text: string): Promise<unknown[]> {
  await using sql = new SQL(url, { max: 1, connectionTimeout: 5 })
  return [...(await sql.unsafe(text))]
}
