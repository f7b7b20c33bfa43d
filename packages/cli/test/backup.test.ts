// sotto backup: every wrong call ends with one sentence and an exit code, and leaves nothing behind.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { mountSmallDisk } from '@sotto/relay/testing/small-disk'
import { expectRefused, mainFile, run, sotto } from './run-sotto.ts'

setDefaultTimeout(240_000)

let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay()
}, 240_000)
afterAll(() => relay.stop())

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-backup-'))
  folders.push(folder)
  return folder
}

// A script runs the command line as a user who is not root, because permissions do not bind root.
const asNobody = `
  const { main } = await import(${JSON.stringify(mainFile)})
  await import('@sotto/relay')
  if (process.getuid() === 0) {
    process.setgid(65534)
    process.setuid(65534)
  }
  process.exitCode = await main(process.argv.slice(1))`

test('a place that cannot be written, and a folder that holds no store, are named in one sentence', async () => {
  const folder = await newFolder()
  const backup = (dataDir: string, to: string) => sotto('backup', '--data-dir', dataDir, '--to', to)
  await Bun.write(join(folder, 'file'), 'notes')
  const nowhere = join(folder, 'nowhere', 'copy.db')
  expectRefused(await backup(relay.dataDir, nowhere), `cannot write ${nowhere}: no such file or directory`)
  const below = join(folder, 'file', 'copy.db')
  expectRefused(await backup(relay.dataDir, below), `cannot write ${below}: not a directory`)
  for (const taken of [folder, join(folder, 'file')])
    expectRefused(await backup(relay.dataDir, taken), `${taken} exists already; choose another file`)
  const copy = join(folder, 'copy.db')
  expectRefused(await backup(folder, copy), `${folder} holds no store of a relay`)
  await mkdir(join(folder, 'data'))
  const database = join(folder, 'data', 'sotto.db')
  await Bun.write(database, '')
  expectRefused(await backup(join(folder, 'data'), copy), `${join(folder, 'data')} holds no store of a relay`)
  await Bun.write(database, 'x'.repeat(5000))
  expectRefused(await backup(join(folder, 'data'), copy), `cannot read ${database}: file is not a database`)
  expect((await readdir(folder)).toSorted()).toEqual(['data', 'file'])
  expect(await Bun.file(join(folder, 'file')).text()).toBe('notes')
  expect((await sotto('backup')).code).toBe(2)
})

test('a missing permission is named in one sentence, for the copy and for the store', async () => {
  const folder = await newFolder()
  await chmod(folder, 0o755)
  const locked = join(folder, 'locked')
  await mkdir(locked)
  await chmod(locked, 0)
  const backup = (dataDir: string, to: string) =>
    run(['-e', asNobody, 'backup', '--data-dir', dataDir, '--to', to])
  const inside = join(locked, 'copy.db')
  expectRefused(await backup(relay.dataDir, inside), `cannot write ${inside}: permission denied`)
  expectRefused(
    await backup(locked, join(folder, 'copy.db')),
    `cannot read ${join(locked, 'sotto.db')}: permission denied`,
  )
  await chmod(locked, 0o700)
  expect(await readdir(locked)).toEqual([])
})

test('a full disk is named in one sentence, and no part of the copy stays', async () => {
  await using disk = await mountSmallDisk(4)
  disk.fillUpTo(64 * 1024)
  const copy = join(disk.folder, 'copy.db')
  expectRefused(
    await sotto('backup', '--data-dir', relay.dataDir, '--to', copy),
    `cannot write ${copy}: database or disk is full`,
  )
  expect(await readdir(disk.folder)).toEqual(['ballast'])
  disk.empty()
  expect(await sotto('backup', '--data-dir', relay.dataDir, '--to', copy)).toMatchObject({
    code: 0,
    errors: '',
  })
  expect((await readdir(disk.folder)).toSorted()).toEqual(['ballast', 'copy.db'])
})
