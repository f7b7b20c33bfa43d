// The write-ahead log stays bounded no matter how much is written, and the main thread does not checkpoint
// it.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { Checkpoints } from './checkpoints.ts'
import { SerialQueue } from './serial-queue.ts'
import { openSqlite } from './sqlite.ts'
import type { Storage } from './storage.ts'

const MIB = 2 ** 20
let folder: string
let storage: Storage

// Slow disks take long for 70 MiB.
setDefaultTimeout(240_000)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-checkpoints-'))
  storage = await openSqlite(folder)
})
afterEach(async () => {
  await storage.close()
  await rm(folder, { recursive: true, force: true })
})

async function write(mib: number, from: number): Promise<void> {
  for (let row = 0; row < mib; row++) {
    const value = `${'x'.repeat(MIB)}`
    await storage.transaction(
      (sql) => sql`INSERT INTO relay_state (name, value) VALUES (${`row ${from + row}`}, ${value})`,
    )
  }
}

/**
 * How often the log has restarted. Its header counts that
 * (https://www.sqlite.org/fileformat2.html#walformat).
 */
async function restarts(): Promise<number> {
  const header = await Bun.file(join(folder, 'sotto.db-wal')).slice(0, 16).arrayBuffer()
  return header.byteLength < 16 ? -1 : new DataView(header).getUint32(12)
}

const sizeOf = async (name: string): Promise<number> => (await stat(join(folder, name))).size

test('written data is copied into the database automatically, and the log restarts', async () => {
  for (let round = 1; round <= 4; round++) {
    const before = await restarts()
    await write(70, round * 70)
    await until(async () => (await sizeOf('sotto.db')) > round * 69 * MIB)
    // The file reaches its size before the thread has finished. The log restarts with the next write.
    await until(async () => {
      await storage.transaction(
        (sql) => sql`UPDATE relay_state SET value = hex(randomblob(8)) WHERE name = 'row 70'`,
      )
      return (await restarts()) > before
    })
  }
  expect(await sizeOf('sotto.db-wal')).toBeLessThan(150 * MIB)
})

test('a long reader keeps the log from restarting, and then reads everything that was written', async () => {
  await write(2, 0)
  const reader = new Database(join(folder, 'sotto.db'), { readonly: true })
  reader.run('BEGIN')
  const seen = () => Number(reader.query<{ n: number }, []>('SELECT count(*) AS n FROM relay_state').get()?.n)
  const atFirst = seen()
  await write(80, 2)
  await Bun.sleep(1500)
  expect(seen()).toBe(atFirst)
  reader.run('COMMIT')
  expect(seen()).toBe(atFirst + 80)
  reader.close()
})

test('the thread gets one event listener, no matter how many checkpoints run', async () => {
  const listening = spyOn(EventTarget.prototype, 'addEventListener')
  for (let mib = 1; mib <= 3; mib++) {
    await write(1, mib)
    await until(async () => (await sizeOf('sotto.db')) > mib * MIB)
  }
  const toThreads = listening.mock.contexts.filter((each) => each instanceof Worker)
  listening.mockRestore()
  expect(toThreads).toHaveLength(1)
})

test('the log is emptied when nothing is written any more, with everything in the database', async () => {
  await write(3, 0)
  await until(async () => (await sizeOf('sotto.db-wal')) === 0)
  expect(await sizeOf('sotto.db')).toBeGreaterThan(3 * MIB)
  // A reader, because without one the log could be emptied again before the test looks.
  using reader = new Database(join(folder, 'sotto.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM relay_state').get()
  await write(1, 3)
  expect(await sizeOf('sotto.db-wal')).toBeGreaterThan(MIB)
})

test('under a load that never ends the log is emptied too', async () => {
  const file = join(folder, 'sotto.db')
  using database = new Database(file)
  database.run('PRAGMA busy_timeout = 5000')
  const queue = new SerialQueue()
  const checkpoints = new Checkpoints(file, queue, 1)
  const insert = (name: string, bytes: number): Promise<void> =>
    queue
      .run(() => {
        database.run('INSERT INTO relay_state (name, value) VALUES (?, ?)', [name, 'x'.repeat(bytes)])
      })
      .finally(() => checkpoints.written())
  await insert('large', 3 * MIB)
  let isOver = false
  const load = (async () => {
    for (let row = 0; !isOver; row++) {
      await insert(`small ${row}`, 10)
      await Bun.sleep(1)
    }
  })()
  await until(async () => (await sizeOf('sotto.db-wal')) < MIB)
  isOver = true
  await load
  await checkpoints.end()
})

test('a reader keeps the log from being emptied, and it is emptied after the reader has ended', async () => {
  await write(1, 0)
  const reader = new Database(join(folder, 'sotto.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM relay_state').get()
  await write(1, 1)
  await until(async () => (await sizeOf('sotto.db')) > MIB)
  expect(await sizeOf('sotto.db-wal')).toBeGreaterThan(MIB)
  reader.run('COMMIT')
  reader.close()
  await until(async () => (await sizeOf('sotto.db-wal')) === 0)
})

test('closing waits for the thread, and loses nothing', async () => {
  await write(5, 0)
  await until(async () => (await sizeOf('sotto.db')) > 4 * MIB)
  await write(5, 5)
  await storage.close()
  // SQLite deletes the log when the last connection closes, so none was left open.
  expect(await failureOf(sizeOf('sotto.db-wal'))).toBeInstanceOf(Error)
  storage = await openSqlite(folder)
  const [row] = await storage.sql<{
    n: number
  }>`SELECT count(*) AS n FROM relay_state WHERE name LIKE 'row %'`
  expect(row?.n).toBe(10)
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let triesLeft = 1200; !(await condition()); triesLeft--) {
    if (triesLeft === 0) throw new Error('the condition was not met in a minute')
    await Bun.sleep(50)
  }
}
