// sotto backup check: every file of a backup is compared with its checksum, also by sha256sum, and a restore
// refuses what is damaged.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRelay } from '@sotto/relay/testing'
import { MediaAccount, noise } from '../../relay/test/media-wire.ts'
import { expectRefused, sotto } from './run-sotto.ts'

setDefaultTimeout(240_000)

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A relay with three blobs, backed up into a folder. */
async function backedUp() {
  const relay = await startRelay()
  endings.push(() => relay.stop())
  const media = await MediaAccount.make(relay.url)
  for (const bytes of [1000, 70_000, 300_000]) await media.upload(noise(bytes))
  const folder = await mkdtemp(join(tmpdir(), 'sotto-check-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const backups = join(folder, 'backups')
  const backup = () => sotto('backup', '--folder', backups, '--data-dir', relay.dataDir)
  expect(await backup()).toMatchObject({ code: 0, errors: '' })
  const names = await readdir(backups, { recursive: true })
  const blobs = names.filter((name) => /^media\/..\/[0-9a-f]{32}$/.test(name)).toSorted()
  const [database = ''] = names.filter((name) => name.endsWith('Z.db'))
  const list = database.replace('.db', '.sha256')
  const restore = (...more: string[]) =>
    sotto('restore', '--from', backups, '--data-dir', join(folder, 'data'), ...more)
  return {
    folder,
    backups,
    backup,
    blobs,
    database,
    list,
    restore,
    check: () => sotto('backup', 'check', backups),
  }
}

/** Turns one bit of a file around. */
async function damage(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  const { size } = await handle.stat()
  const byte = new Uint8Array(1)
  await handle.read(byte, 0, 1, size >> 1)
  await handle.write(
    byte.map((value) => value ^ 1),
    0,
    1,
    size >> 1,
  )
  await handle.close()
}

test('damaged and missing blobs are named, refused by a restore, and copied again after they were deleted', async () => {
  const { folder, backups, backup, blobs, list, restore, check } = await backedUp()
  expect(await check()).toEqual({
    code: 0,
    output: `${backups} is whole. Backups: 1, files: 4.\n`,
    errors: '',
  })
  const sums = Bun.spawnSync(['sha256sum', '--check', '--strict', list], { cwd: backups })
  expect([sums.exitCode, `${sums.stdout}`.match(/: OK\n/g)?.length]).toEqual([0, 4])

  const [first = '', second = ''] = blobs
  await damage(join(backups, first))
  await rm(join(backups, second))
  const found = await check()
  expect(found.code).toBe(1)
  expect(found.output.trim().split('\n').toSorted()).toEqual(
    [`${join(backups, first)} is damaged`, `${join(backups, second)} is missing`].toSorted(),
  )
  expect(found.errors).toStartWith(`sotto: files of ${backups} that are damaged or missing: 2; if you delete`)
  expect(found.errors.trim().split('\n')).toHaveLength(1)

  const refused = await restore()
  expect(refused).toMatchObject({ code: 1, output: '' })
  expect(refused.errors).toMatch(
    /^sotto: \S+ is (?:damaged|missing); --skip-damaged restores everything else\n$/,
  )
  expect(existsSync(join(folder, 'data', 'sotto.db'))).toBe(false)
  const skipped = await restore('--skip-damaged')
  expect(skipped.errors).toContain('but blobs of media are missing in the backup: 2')
  expect(existsSync(join(folder, 'data', 'sotto.db'))).toBe(true)

  await rm(join(backups, first))
  expect((await backup()).output).toContain('2 copied, 1 there already')
  expect(await check()).toMatchObject({ code: 0, output: `${backups} is whole. Backups: 2, files: 5.\n` })
})

test('a blob that no list can vouch for is compared with the one of the relay, and copied again if it differs', async () => {
  const { backups, backup, blobs, list, restore, check } = await backedUp()
  const [first = ''] = blobs
  await damage(join(backups, first))
  await Bun.write(join(backups, list), 'notes\n')
  expect((await backup()).output).toContain('1 copied, 2 there already')
  await rm(join(backups, list))
  expect((await check()).code).toBe(0)
  expect(await restore()).toMatchObject({ code: 0, errors: '' })
})

test('a damaged database or list of checksums is refused in one sentence', async () => {
  const { folder, backups, backup, database, list, restore, check } = await backedUp()
  await damage(join(backups, database))
  expect((await check()).output).toBe(`${join(backups, database)} is damaged\n`)
  expectRefused(await restore(), `${join(backups, database)} is damaged`)
  await damage(join(backups, database))
  expect((await check()).code).toBe(0)
  await Bun.write(join(backups, list), 'notes\n')
  expect((await check()).output).toBe(`${join(backups, list)} is damaged\n`)
  expectRefused(await restore(), `${join(backups, list)} is damaged`)
  expect((await backup()).output).toContain('0 copied, 3 there already')
  expect(await restore()).toMatchObject({ code: 0, errors: '' })

  expectRefused(await sotto('backup', 'check', folder), `${folder} holds no backup`)
  const nowhere = join(folder, 'nowhere')
  expectRefused(await sotto('backup', 'check', nowhere), `cannot read ${nowhere}: no such file or directory`)
  expect((await sotto('backup', 'check')).code).toBe(2)
})
