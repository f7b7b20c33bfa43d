// What remains of a file after a power cut, and that the layer sees the writes and syncs of SQLite in Bun.
import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Disk, forget } from './disk.ts'
import { allMutationsApply } from './mutations.ts'
import { Random } from './random.ts'

const page = (byte: number, size = 4096): Buffer => Buffer.alloc(size, byte)

function undoOf(durableSize: number, ...records: readonly { offset: number; old: Buffer }[]): Buffer {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  }
  const bodies = records.flatMap(({ offset, old }) => [number(offset), number(old.length), old])
  return Buffer.concat([number(durableSize), ...bodies])
}

const nothing = { survives: () => false }
const everything = { survives: () => true }

test('a power cut restores the last synced content and length of a file', () => {
  const undo = undoOf(4096, { offset: 0, old: page(1) }, { offset: 4096, old: Buffer.alloc(0) })
  const written = Buffer.concat([page(2), page(3)])
  expect(forget(written, undo, nothing)).toEqual(page(1))
  expect(forget(written, undo, everything)).toEqual(written)
  expect(forget(written, Buffer.alloc(0), nothing)).toBeUndefined()
})

test('each sector survives or is lost separately', () => {
  const undo = undoOf(4096, { offset: 0, old: page(1) })
  let sector = 0
  const kept = forget(page(2), undo, { survives: () => sector++ === 3 })
  expect(kept).toEqual(Buffer.concat([page(1, 1536), page(2, 512), page(1, 2048)]))
})

test('a truncated file gets its synced content back, and an incomplete undo record is ignored', () => {
  const undo = undoOf(8192, { offset: 4096, old: page(7) })
  expect(forget(page(5), undo, nothing)).toEqual(Buffer.concat([page(5), page(7)]))
  const torn = undo.subarray(0, undo.length - 1)
  expect(forget(Buffer.concat([page(5), page(6)]), torn, nothing)).toEqual(Buffer.concat([page(5), page(6)]))
})

const WRITER = `
  import { Database } from 'bun:sqlite'
  const database = new Database(process.env.FAULTS_DATA + '/a.db')
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = FULL')
  database.run('CREATE TABLE IF NOT EXISTS t (a)')
  database.run('INSERT INTO t VALUES (1)')
  database.run('PRAGMA synchronous = OFF')
  database.run('INSERT INTO t VALUES (2)')
  console.log(database.query('SELECT a FROM t').values().join())
  process.kill(process.pid, 'SIGKILL')
`

/** With this, no unsynced data survives. */
const SEED_OF_NOTHING = 7

test('SQLite in Bun: only synced data survives a power cut', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'sotto-disk-'))
  const folder = join(scratch, 'data')
  mkdirSync(folder)
  const disk = Disk.prepare(folder, scratch)
  if (typeof disk === 'string') {
    console.log(`not tested: ${disk}`)
    return
  }
  const run = (): string => {
    const command = [process.execPath, '-e', WRITER]
    return Bun.spawnSync(command, { env: { ...disk.env } })
      .stdout.toString()
      .trim()
  }
  expect(run()).toBe('1,2')
  expect(run()).toBe('1,2,1,2') // A kill without a power cut loses nothing.
  disk.settle()
  expect(run()).toBe('1,2,1,2,1,2')
  disk.cutPower(new Random(SEED_OF_NOTHING))
  expect(run()).toBe('1,2,1,2,1,1,2')
  disk.close()
  rmSync(scratch, { recursive: true })
})

test('every mutation of bench/faults/mutations.ts still matches the source', () => {
  expect(allMutationsApply).not.toThrow()
})
