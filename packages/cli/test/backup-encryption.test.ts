// Encrypted backups: Debian's age reads them, restores need the secret key, and nothing of the store is
// readable in the folder.
import { Database } from 'bun:sqlite'
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
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
  const folder = await mkdtemp(join(tmpdir(), 'sotto-encryption-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Makes a pair of keys with age-keygen. @returns the public one */
function makeKeys(identity: string): string {
  expect(Bun.spawnSync(['age-keygen', '-o', identity]).exitCode).toBe(0)
  return Bun.spawnSync(['age-keygen', '-y', identity]).stdout.toString().trim()
}

/** What Debian's age decrypts. */
function decrypt(identity: string, file: string): Buffer<ArrayBuffer> {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['age', '--decrypt', '--identity', identity, file])
  expect({ exitCode, errors: stderr.toString() }).toEqual({ exitCode: 0, errors: '' })
  return Buffer.from(stdout)
}

async function filesIn(folder: string, pattern: RegExp): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => pattern.test(name)).toSorted()
}

test('age decrypts a backup, nothing of it is readable without the key, and only new media are encrypted', async () => {
  const relay = await relayOn()
  const media = await MediaAccount.make(relay.url)
  const blob = noise(200_000)
  const key = await media.upload(blob)
  const folder = await newFolder()
  const [mine, other] = [join(folder, 'mine.txt'), join(folder, 'other.txt')]
  const [toMe, toOther] = [makeKeys(mine), makeKeys(other)]
  const backups = join(folder, 'backups')
  const backup = (publicKey: string) =>
    sotto('backup', '--folder', backups, '--to-key', publicKey, '--data-dir', relay.dataDir)
  expect(await backup(toMe)).toMatchObject({ code: 0, errors: '' })

  for (const name of await filesIn(backups, /\.age$|\.unfinished$/)) {
    const bytes = Buffer.from(await Bun.file(join(backups, name)).arrayBuffer())
    expect(bytes.toString('latin1')).toStartWith('age-encryption.org/v1\n')
    expect([bytes.includes('SQLite format'), bytes.includes(blob.subarray(0, 32))]).toEqual([false, false])
  }
  const [database = ''] = await filesIn(backups, /Z\.db\.age$/)
  const [encrypted = '', ...more] = await filesIn(backups, /^media-\w+\/..\/[0-9a-f]{32}\.age$/)
  expect(more).toEqual([])
  expect((await filesIn(backups, /[^/]$/)).filter((name) => /\.db$|^media\//.test(name))).toEqual(['lock.db'])
  expect(Buffer.compare(decrypt(mine, join(backups, encrypted)), blob)).toBe(0)
  const copy = join(folder, 'copy.db')
  await Bun.write(copy, decrypt(mine, join(backups, database)))
  using store = new Database(copy, { readonly: true })
  using rows = store.prepare<{ object: string }, []>('SELECT object FROM media_blobs')
  expect(encrypted).toContain(rows.get()?.object ?? '-')

  expect((await backup(toMe)).output).toContain('0 copied, 1 there already')
  // A blob that was damaged and copied again has other bytes; the first backup, which is restored below, too.
  await rm(join(backups, encrypted))
  expect((await backup(toMe)).output).toContain('1 copied, 0 there already')
  // Another key gets all media, too: a person who has it needs no other.
  expect((await backup(toOther)).output).toContain('1 copied, 0 there already')
  expect(await sotto('backup', 'check', backups)).toMatchObject({ code: 0 })

  const dataDir = join(folder, 'data')
  const restore = (...how: string[]) => sotto('restore', '--data-dir', dataDir, '--from', ...how)
  const newest = (await filesIn(backups, /Z\.db\.age$/)).at(-1) ?? ''
  const path = join(backups, newest)
  expectRefused(
    await restore(backups),
    `${path} is encrypted; name the file of its secret key with --identity`,
  )
  expectRefused(await restore(backups, '--identity', mine), `no key of ${mine} opens ${path}`)
  expect(existsSync(join(dataDir, 'sotto.db'))).toBe(false)
  expect(await restore(backups, '--identity', other)).toMatchObject({ code: 0, errors: '' })
  await rm(dataDir, { recursive: true })
  expect(await restore(join(backups, database), '--identity', mine)).toMatchObject({ code: 0, errors: '' })

  const restored = await relayOn({ DATA_DIR: dataDir })
  Object.assign(media.account, { base: restored.url })
  expect(Buffer.compare(await bytesOf(await media.download(key)), blob)).toBe(0)
})

test('a copy of the database alone is encrypted, and wrong keys are refused in one sentence', async () => {
  const relay = await relayOn()
  const folder = await newFolder()
  const mine = join(folder, 'mine.txt')
  const key = makeKeys(mine)
  const copy = join(folder, 'copy.db.age')
  const backup = (publicKey: string, to = copy) =>
    sotto('backup', '--to', to, '--to-key', publicKey, '--data-dir', relay.dataDir)
  const invalid = key.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'))
  expectRefused(await backup(invalid), `${invalid} is no public key of age`)
  const secret = (await Bun.file(mine).text()).match(/AGE-SECRET-KEY-\w+/)?.[0] ?? ''
  const refused = await backup(secret)
  expectRefused(refused, 'BACKUP_KEY must be public keys of age, such as age1…, separated by commas')
  const nowhere = join(folder, 'nowhere', 'copy.db.age')
  expectRefused(await backup(key, nowhere), `cannot write ${nowhere}: no such file or directory`)
  expect(existsSync(copy)).toBe(false)
  expect(await backup(key)).toMatchObject({ code: 0, errors: '' })
  expectRefused(await backup(key), `${copy} exists already; choose another file`)
  expect(decrypt(mine, copy).toString('latin1')).toStartWith('SQLite format 3')
  expect(await readdir(relay.dataDir)).not.toContain('backup')

  const dataDir = join(folder, 'data')
  const restore = (identity: string) =>
    sotto('restore', '--from', copy, '--identity', identity, '--data-dir', dataDir)
  const absent = join(folder, 'absent.txt')
  expectRefused(await restore(absent), `cannot read ${absent}: no such file or directory`)
  const notes = join(folder, 'notes.txt')
  for (const text of ['', 'notes\n', `${secret}x\n`]) {
    await Bun.write(notes, text)
    expectRefused(await restore(notes), `${notes} holds no secret key of age (AGE-SECRET-KEY-1…)`)
  }
  const whole = await Bun.file(copy).bytes()
  await Bun.write(copy, whole.subarray(0, whole.length - 100))
  expectRefused(await restore(mine), `${copy} is damaged`)
  expect(existsSync(join(dataDir, 'sotto.db'))).toBe(false)
  await Bun.write(copy, whole)
  expect(await restore(mine)).toMatchObject({ code: 0, errors: '' })
})
