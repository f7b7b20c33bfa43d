// sotto restore: backups with media, made beside a running relay, also after a kill of either command.
import { Database } from 'bun:sqlite'
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { message, type WireAccount, wireFriends } from '@sotto/relay/testing/wire'
import { bytesOf, MediaAccount, noise } from '../../relay/test/media-wire.ts'
import { expectRefused, killAtBlob, sotto } from './run-sotto.ts'

setDefaultTimeout(240_000)

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-restore-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function relayOn(env: Record<string, string> = {}): Promise<RelayProcess> {
  const relay = await startRelay({ env })
  endings.push(() => relay.stop())
  return relay
}

/** The files of a folder of media. */
async function blobsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{32}$/.test(name)).toSorted()
}

/** Where the blob with this key is in a folder of media. */
async function objectOf(database: string, key: string): Promise<string> {
  using store = new Database(database, { readonly: true })
  using blobs = store.prepare<{ object: string }, [string]>(
    'SELECT object FROM media_blobs WHERE media_key = ?',
  )
  const object = blobs.get(key)?.object ?? ''
  return join(object.slice(0, 2), object)
}

async function backupsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('Z.db')).toSorted()
}

interface People {
  readonly bob: WireAccount
  readonly media: MediaAccount
}

/** Starts a relay on restored data. @returns the ids of bob's messages, and the blobs or statuses */
async function readBack(dataDir: string, { bob, media }: People, keys: readonly string[]) {
  const relay = await relayOn({ DATA_DIR: dataDir })
  for (const account of [bob, media.account]) Object.assign(account, { base: relay.url })
  const { socket, backlog } = await bob.online()
  const ids = backlog.filter(({ type }) => type === 'msg').map(({ id }) => id)
  const blobs: (Uint8Array | number)[] = []
  for (const key of keys) {
    const response = await media.download(key)
    blobs.push(response.status === 200 ? await bytesOf(response) : response.status)
  }
  await socket.close()
  await relay.kill('SIGTERM')
  return { ids, blobs }
}

test('after a kill in mid-backup the former backup is restored with its media, and the next backup is whole', async () => {
  const relay = await relayOn()
  const { alice, bob, conv } = await wireFriends(relay.url)
  const media = await MediaAccount.make(relay.url)
  const people = { bob, media }
  const blobs = Array.from({ length: 4 }, (_, i) => noise(50_000 + i))
  const sender = await alice.connect()
  const folder = join(await newFolder(), 'backups')
  const backup = ['backup', '--folder', folder, '--data-dir', relay.dataDir]
  const keys: string[] = []
  const add = async (id: string, from: number): Promise<void> => {
    sender.send(message(bob.alias, conv, id, id))
    await sender.next('ack')
    for (const blob of blobs.slice(from, from + 2)) keys.push(await media.upload(blob))
  }

  await add('m1', 0)
  expect(await sotto(...backup)).toMatchObject({ code: 0, errors: '' })
  const [first] = await backupsIn(folder)
  expect((await stat(join(folder, first ?? ''))).mode & 0o777).toBe(0o600)
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  const before = await blobsIn(join(relay.dataDir, 'media'))
  expect(await blobsIn(join(folder, 'media'))).toEqual(before)

  await add('m2', 2)
  const after = await blobsIn(join(relay.dataDir, 'media'))
  const last = await objectOf(join(relay.dataDir, 'sotto.db'), keys[3] ?? '')
  const hasThree = async (): Promise<boolean> => (await blobsIn(join(folder, 'media'))).length === 3
  await killAtBlob(join(relay.dataDir, 'media', last), hasThree, backup)
  expect(await backupsIn(folder)).toEqual([first ?? ''])
  expect(existsSync(join(relay.dataDir, 'backup', 'sotto.db'))).toBe(true)

  const restored = join(await newFolder(), 'data')
  expect(await sotto('restore', '--from', folder, '--data-dir', restored)).toMatchObject({
    code: 0,
    errors: '',
  })
  expect((await readdir(restored)).toSorted()).toEqual(['lock.db', 'media', 'sotto.db'])
  expect(await readBack(restored, people, keys)).toEqual({
    ids: ['m1'],
    blobs: [blobs[0] ?? 0, blobs[1] ?? 0, 404, 404],
  })

  const whole = await sotto(...backup)
  expect(whole).toMatchObject({ code: 0, errors: '' })
  expect(whole.output).toContain('1 copied, 3 there already')
  expect(await blobsIn(join(folder, 'media'))).toEqual(after)
  const [, second = ''] = await backupsIn(folder)
  const lists = [first ?? '', second].map((name) => name.replace('.db', '.sha256'))
  expect((await readdir(folder)).toSorted()).toEqual(
    [first ?? '', second, ...lists, 'lock.db', 'media', 'relay.id'].toSorted(),
  )
  expect(existsSync(join(relay.dataDir, 'backup'))).toBe(false) // What the killed one had left there.

  // A restore that is killed leaves no store, and can be repeated.
  const again = join(await newFolder(), 'data')
  const restore = ['restore', '--from', folder, '--data-dir', again]
  const hasThreeAgain = async (): Promise<boolean> =>
    existsSync(join(again, 'media')) && (await blobsIn(join(again, 'media'))).length === 3
  await killAtBlob(join(folder, 'media', last), hasThreeAgain, restore)
  expect(existsSync(join(again, 'sotto.db'))).toBe(false)
  expect(await sotto(...restore)).toMatchObject({ code: 0, errors: '' })
  expect(await readBack(again, people, keys)).toEqual({ ids: ['m1', 'm2'], blobs })
})

test('a restore moves the numbers of conversations ahead, and takes a copy of the database alone', async () => {
  const relay = await relayOn()
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = await alice.connect()
  sender.send(message(bob.alias, conv, 'in the backup', 'm1'))
  expect((await sender.next('ack')).seq).toBe(1)
  const folder = await newFolder()
  const copy = join(folder, 'copy.db')
  expect(await sotto('backup', '--to', copy, '--data-dir', relay.dataDir)).toMatchObject({ code: 0 })
  const dataDir = join(folder, 'data')
  expect(await sotto('restore', '--from', copy, '--data-dir', dataDir)).toMatchObject({ code: 0, errors: '' })
  const restored = await relayOn({ DATA_DIR: dataDir })
  Object.assign(alice, { base: restored.url })
  const again = await alice.connect()
  again.send(message(bob.alias, conv, 'after it', 'm2'))
  expect((await again.next('ack')).seq).toBe(1_000_002)
})

test('what cannot be restored is named in one sentence, and a store is never overwritten', async () => {
  const relay = await relayOn()
  const media = await MediaAccount.make(relay.url)
  const key = await media.upload(noise(1000))
  const folder = await newFolder()
  const dataDir = join(folder, 'data')
  const restore = (from: string, to = dataDir) => sotto('restore', '--from', from, '--data-dir', to)
  const nowhere = join(folder, 'nowhere')
  expectRefused(await restore(nowhere), `cannot read ${nowhere}: no such file or directory`)
  expectRefused(await restore(folder), `${folder} holds no backup`)
  const notes = join(folder, 'notes')
  await Bun.write(notes, 'x'.repeat(5000))
  expectRefused(await restore(notes), `cannot read ${notes}: file is not a database`)
  await Bun.write(notes, '')
  expectRefused(await restore(notes), `${notes} is no copy of a relay’s database`)
  expect(existsSync(dataDir)).toBe(false)

  const backups = join(folder, 'backups')
  const backup = () => sotto('backup', '--folder', backups, '--data-dir', relay.dataDir)
  expect(await backup()).toMatchObject({ code: 0 })
  expectRefused(await restore(backups, relay.dataDir), `${relay.dataDir} is in use by another relay`)
  await relay.kill('SIGTERM')
  expectRefused(
    await restore(backups, relay.dataDir),
    `${relay.dataDir} holds the store of a relay; restore into an empty folder`,
  )

  // The store lacks a blob, and so does the backup.
  const object = await objectOf(join(relay.dataDir, 'sotto.db'), key)
  await rm(join(backups, 'media', object))
  await rm(join(relay.dataDir, 'media', object))
  const incomplete = await backup()
  const [, second = ''] = await backupsIn(backups)
  expectRefused(
    incomplete,
    `the backup ${join(backups, second)} is made, but blobs of media are missing in ${join(relay.dataDir, 'media')}: 1`,
  )
  expectRefused(
    await restore(backups),
    `${join(backups, second)} is restored to ${dataDir}, but blobs of media are missing in the backup: 1`,
  )
  expectRefused(
    await sotto('backup', '--folder', relay.dataDir, '--data-dir', relay.dataDir),
    `${relay.dataDir} holds the store of a relay; choose another folder`,
  )
  expect((await sotto('backup', '--folder', backups, '--to', notes)).code).toBe(2)
})
