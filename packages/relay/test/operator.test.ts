// An operator's work: back up a running relay, restore the copy, and continue without repeating a number.
import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { OperatorError, operatorCommands, tellRelay } from '../src/operator.ts'
import { backUp } from '../src/operator-backups.ts'
import { startPostgres } from './postgres-server.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { message, type WireAccount, wireFriends } from './wire.ts'

const relays: RelayProcess[] = []
const folders: string[] = []
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.stop()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function start(env: Record<string, string> = {}): Promise<RelayProcess> {
  const relay = await startRelay({ env })
  relays.push(relay)
  return relay
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-operator-'))
  folders.push(folder)
  return folder
}

function depositIndexIn(dataDir: string): unknown {
  using database = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  const row = database.prepare("SELECT value FROM relay_state WHERE name = 'deposit_index'").get()
  return Reflect.get(Object(row), 'value')
}

test('a backup of a running relay can be restored, and conversations then continue a million numbers further', async () => {
  const relay = await start()
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = await alice.connect()
  sender.send(message(bob.alias, conv, 'in the backup', 'm1'))
  expect((await sender.next('ack')).seq).toBe(1)

  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const device = 'a'.repeat(32)
  const last_resort = { id: 'k2', package: 'AAAA' }
  await bob.post('/key-packages', {
    ...{ device, last_resort },
    packages: [{ id: 'k1', package: 'AAAA', expires_at }],
  })
  const before = await incarnationOf(bob)
  const copy = join(await temporaryFolder(), 'copy.db')
  expect(await backUp({ DATA_DIR: relay.dataDir }, copy)).toContain('sotto restore')
  expect((await stat(copy)).mode & 0o777).toBe(0o600) // The copy has the keys that sign tokens.
  sender.send(message(bob.alias, conv, 'lost with the machine', 'm2'))
  expect((await sender.next('ack')).seq).toBe(2)
  await relay.kill('SIGKILL')

  const dataDir = await temporaryFolder()
  await rename(copy, join(dataDir, 'sotto.db'))
  const said = await operatorCommands['after-restore']({ DATA_DIR: dataDir })
  expect(said).toContain('Deposit addresses go on a million further')
  expect(said).toContain('All key packages are deleted')
  expect(depositIndexIn(dataDir)).toBe('1000000')
  const restored = await start({ DATA_DIR: dataDir })
  for (const account of [alice, bob]) Object.assign(account, { base: restored.url })
  // They may have been given out since the backup.
  expect((await bob.get('/key-packages')).body).toEqual({ devices: [] })
  const incarnation = await incarnationOf(bob)
  expect(incarnation).not.toBe(before)
  expect(await incarnationOf(bob)).toBe(incarnation)
  const again = await alice.connect()
  again.send(message(bob.alias, conv, 'lost with the machine', 'm2'))
  expect((await again.next('ack')).seq).toBe(1_000_002)
  const receiver = await bob.connect()
  expect((await receiver.next('msg')).id).toBe('m1')
  expect((await receiver.next('msg')).id).toBe('m2')
})

/** What tells a client that the relay was restored. */
async function incarnationOf(account: WireAccount): Promise<unknown> {
  const { socket, backlog } = await account.online({ crypto_v: 3 })
  await socket.close()
  return backlog.at(-1).incarnation
}

test('resume-expiry works beside a running relay', async () => {
  const relay = await start()
  expect(await operatorCommands['resume-expiry']({ DATA_DIR: relay.dataDir })).toContain('Expiry goes on')
})

test('compact leaves nothing of what was deleted, not even in a store that an older relay did not overwrite', async () => {
  const relay = await start()
  await relay.kill('SIGTERM')
  const file = join(relay.dataDir, 'sotto.db')
  const rowsLike = (name: string, rows: number): string =>
    Array.from({ length: rows }, (_, row) => `('${name} ${row}', '${'x'.repeat(row % 900)}')`).join()
  {
    using database = new Database(file)
    database.run('PRAGMA secure_delete = OFF')
    database.run(`INSERT INTO relay_state (name, value) VALUES ${rowsLike('deleted', 200)}`)
    database.run(`INSERT INTO relay_state (name, value) VALUES ${rowsLike('kept', 200)}`)
    database.run("DELETE FROM relay_state WHERE name LIKE 'deleted %'")
  }
  expect(await Bun.file(file).text()).toContain('deleted 1')
  expect(await operatorCommands.compact({ DATA_DIR: relay.dataDir })).toContain('Rewrote the database')
  const after = await Bun.file(file).text()
  expect(after).not.toContain('deleted 1')
  expect(after).toContain('kept 199')
  expect(existsSync(`${file}-wal`)).toBe(false)
})

test('compact and after-restore are refused while a relay runs on the store, compact also on PostgreSQL', async () => {
  const relay = await start()
  for (const name of ['compact', 'after-restore'] as const) {
    const refused = operatorCommands[name]({ DATA_DIR: relay.dataDir })
    expect(String(await failureOf(refused))).toContain('in use by another relay')
  }
  const DATABASE_URL = await (await startPostgres()).createDatabase()
  expect(String(await failureOf(operatorCommands.compact({ DATABASE_URL })))).toContain('VACUUM FULL')
  const node = await start({ DATABASE_URL })
  for (const run of [operatorCommands.compact, operatorCommands['after-restore']])
    expect(String(await failureOf(run({ DATABASE_URL })))).toContain(`relays run on this store: `)
  await node.kill('SIGTERM')
  expect(await operatorCommands['after-restore']({ DATABASE_URL })).toContain('a million further')
})

test('a store of another version is not touched', async () => {
  const relay = await start()
  await relay.kill('SIGTERM')
  using database = new Database(join(relay.dataDir, 'sotto.db'))
  database.run('INSERT INTO schema_migrations (version) SELECT MAX(version) + 1 FROM schema_migrations')
  // It names the oldest version that can work on the store, and no longer this one.
  database.run("DELETE FROM relay_state WHERE name = 'oldest_schema'")
  for (const run of Object.values(operatorCommands))
    expect(await failureOf(run({ DATA_DIR: relay.dataDir }))).toBeInstanceOf(OperatorError)
  expect(String(await failureOf(tellRelay({ DATA_DIR: relay.dataDir }, 'orders.list', {})))).toContain(
    'another version',
  )
})

test('without a store no command makes one, and no backup is overwritten', async () => {
  const folder = await temporaryFolder()
  for (const run of Object.values(operatorCommands)) {
    expect(await failureOf(run({ DATA_DIR: folder }))).toBeInstanceOf(OperatorError)
  }
  expect(String(await failureOf(backUp({ DATA_DIR: folder }, join(folder, 'copy.db'))))).toContain(
    'holds no store',
  )
  const relay = await start()
  const copy = join(folder, 'copy.db')
  await backUp({ DATA_DIR: relay.dataDir }, copy)
  expect(String(await failureOf(backUp({ DATA_DIR: relay.dataDir }, copy)))).toContain('exists already')
  expect(String(await failureOf(backUp({ DATABASE_URL: 'postgres://x@y/z' }, copy)))).toContain('pg_dump')
})
