// sotto backup --keep-last: old backups go with the media that only they have, if the new backup is whole.
import { Database } from 'bun:sqlite'
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { bytesOf, MediaAccount, noise } from '../../relay/test/media-wire.ts'
import { expectRefused, sotto } from './run-sotto.ts'

setDefaultTimeout(240_000)

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function relayOn(env: Record<string, string> = {}): Promise<RelayProcess> {
  const relay = await startRelay({ env })
  endings.push(() => relay.stop())
  return relay
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-keep-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function filesIn(folder: string, pattern: RegExp): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => pattern.test(name)).toSorted()
}

/** Deletes an account, and waits until the store names nothing of its media. */
async function deleteAccount(dataDir: string, { account }: MediaAccount): Promise<void> {
  using store = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  using stored = store.prepare<{ count: number }, []>(
    "SELECT COUNT(*) AS count FROM media_blobs WHERE state = 'stored'",
  )
  const before = stored.get()?.count ?? 0
  const words = ['accounts', 'delete', account.alias, '--reason', 'a test', '--data-dir', dataDir]
  expect(await sotto(...words)).toMatchObject({ code: 0, errors: '' })
  while (stored.get()?.count === before) await Bun.sleep(20)
}

const LISTS = /Z\.sha256$/
const DATABASES = /Z\.db(?:\.age)?$/
const BLOBS = /^media(?:-\w+)?\/..\/[0-9a-f]{32}(?:\.age)?$/

test.each([false, true])(
  'old backups go with the media that only they have (encrypted: %s)',
  async (isEncrypted) => {
    const relay = await relayOn()
    const [media, leaving] = [await MediaAccount.make(relay.url), await MediaAccount.make(relay.url)]
    const folder = await newFolder()
    const identity = join(folder, 'key.txt')
    expect(Bun.spawnSync(['age-keygen', '-o', identity]).exitCode).toBe(0)
    const key = Bun.spawnSync(['age-keygen', '-y', identity]).stdout.toString().trim()
    const backups = join(folder, 'backups')
    const backup = (...more: string[]) =>
      sotto(
        ...['backup', '--folder', backups, '--data-dir', relay.dataDir],
        ...(isEncrypted ? ['--to-key', key] : []),
        ...more,
      )

    const [deleted, kept] = [noise(1000), noise(2000)]
    await leaving.upload(deleted)
    const second = await media.upload(kept)
    expect(await backup()).toMatchObject({ code: 0, errors: '' })
    await deleteAccount(relay.dataDir, leaving)
    expect((await backup('--keep-last', '2')).output).toEndWith(' Old backups removed: 0.\n')
    expect(await filesIn(backups, BLOBS)).toHaveLength(2)
    await Bun.write(join(backups, 'notes.txt'), 'mine')
    expect((await backup('--keep-last', '2')).output).toEndWith(' Old backups removed: 1.\n')
    for (const [pattern, count] of [
      [LISTS, 2],
      [DATABASES, 2],
      [BLOBS, 1],
    ] as const)
      expect(await filesIn(backups, pattern)).toHaveLength(count)
    expect(await Bun.file(join(backups, 'notes.txt')).text()).toBe('mine')
    expect(await sotto('backup', 'check', backups)).toMatchObject({
      code: 0,
      output: `${backups} is whole. Backups: 2, files: 3.\n`,
    })

    // A new backup that is not whole removes nothing.
    const blobs = join(relay.dataDir, 'media')
    await rename(blobs, `${blobs}.aside`)
    await rm(join(backups, (await filesIn(backups, BLOBS))[0] ?? ''))
    expect((await backup('--keep-last', '1')).errors).toContain('blobs of media are missing')
    expect(await filesIn(backups, LISTS)).toHaveLength(3)
    await rename(`${blobs}.aside`, blobs)
    expect((await backup('--keep-last', '1')).output).toEndWith(' Old backups removed: 3.\n')

    const dataDir = join(folder, 'data')
    const restore = ['restore', '--from', backups, '--data-dir', dataDir]
    expect(await sotto(...restore, ...(isEncrypted ? ['--identity', identity] : []))).toMatchObject({
      code: 0,
      errors: '',
    })
    const restored = await relayOn({ DATA_DIR: dataDir })
    Object.assign(media.account, { base: restored.url })
    expect(Buffer.compare(await bytesOf(await media.download(second)), kept)).toBe(0)

    // The restored relay is the same one, so it continues in the same folder.
    const again = await sotto('backup', '--folder', backups, '--data-dir', dataDir, '--keep-last', '1')
    expect(again).toMatchObject({ code: 0, errors: '' })
    expect(again.output).toEndWith(' Old backups removed: 1.\n')
  },
)

test('a folder belongs to one relay, and a wrong number is refused', async () => {
  const [relay, other] = [await relayOn(), await relayOn()]
  const folder = await newFolder()
  const backups = join(folder, 'backups')
  const backup = ({ dataDir }: RelayProcess, ...more: string[]) =>
    sotto('backup', '--folder', backups, '--data-dir', dataDir, ...more)
  for (const count of ['0', '-1', '1.5', 'all', ''])
    expect(await backup(relay, `--keep-last=${count}`)).toMatchObject({
      code: 2,
      errors: 'sotto: --keep-last must be a number of backups, at least 1\n',
    })
  const copy = join(folder, 'copy.db')
  expect(await sotto('backup', '--to', copy, '--keep-last', '1', '--data-dir', relay.dataDir)).toMatchObject({
    code: 2,
    errors: 'sotto: --keep-last needs --folder; see "sotto backup --help"\n',
  })
  expect([existsSync(backups), existsSync(copy)]).toEqual([false, false])

  expect(await backup(relay)).toMatchObject({ code: 0, errors: '' })
  expectRefused(
    await backup(other, '--keep-last', '1'),
    `${join(backups, 'relay.id')} names another relay; choose a folder of its own for each relay`,
  )
  expect(await filesIn(backups, LISTS)).toHaveLength(1)
})
