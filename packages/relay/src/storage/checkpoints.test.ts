// The write-ahead log stays bounded however much is written, without the thread that answers people bringing it home.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from './sqlite.ts'
import type { Storage } from './storage.ts'

const MIB = 2 ** 20
let folder: string
let storage: Storage

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

/** How often the log has begun anew: its header counts (https://www.sqlite.org/fileformat2.html#walformat). */
async function beginnings(): Promise<number> {
  const header = await Bun.file(join(folder, 'sotto.db-wal')).slice(0, 16).arrayBuffer()
  return header.byteLength < 16 ? -1 : new DataView(header).getUint32(12)
}

const sizeOf = async (name: string): Promise<number> => (await stat(join(folder, name))).size

test('what is written comes home by itself, and the log begins anew', async () => {
  for (let round = 1; round <= 4; round++) {
    const before = await beginnings()
    await write(70, round * 70)
    await until(async () => (await sizeOf('sotto.db')) > round * 69 * MIB)
    // The file has its size before the thread is through. It begins anew with the next that is written.
    await until(async () => {
      await storage.transaction(
        (sql) => sql`UPDATE relay_state SET value = hex(randomblob(8)) WHERE name = 'row 70'`,
      )
      return (await beginnings()) > before
    })
  }
  expect(await sizeOf('sotto.db-wal')).toBeLessThan(150 * MIB)
})

test('a reader that stays keeps the log from beginning anew, and loses nothing by it', async () => {
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

test('the thread is listened to once, however often it is asked', async () => {
  const listening = spyOn(EventTarget.prototype, 'addEventListener')
  for (let mib = 1; mib <= 3; mib++) {
    await write(1, mib)
    await until(async () => (await sizeOf('sotto.db')) > mib * MIB)
  }
  const toThreads = listening.mock.contexts.filter((each) => each instanceof Worker)
  listening.mockRestore()
  expect(toThreads).toHaveLength(1)
})

test('closing waits for the thread, and loses nothing', async () => {
  await write(5, 0)
  await until(async () => (await sizeOf('sotto.db')) > 4 * MIB)
  await write(5, 5)
  await storage.close()
  // SQLite takes the log away with the last connection: none was left open.
  await expect(sizeOf('sotto.db-wal')).rejects.toThrow()
  storage = await openSqlite(folder)
  const [row] = await storage.sql<{
    n: number
  }>`SELECT count(*) AS n FROM relay_state WHERE name LIKE 'row %'`
  expect(row?.n).toBe(10)
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await isSo()); waited += 50) {
    if (waited > 15_000) throw new Error('not in time')
    await Bun.sleep(50)
  }
}
