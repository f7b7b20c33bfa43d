// The file store: the store contract, and recovery from a crash.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  appendFile,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { organisedContract } from '../../test/stores/organised-contract.ts'
import { pagesContract } from '../../test/stores/pages-contract.ts'
import { secretStatesContract } from '../../test/stores/secret-states-contract.ts'
import {
  conversationId,
  friend,
  identity,
  intentOf,
  messageOf,
  offline,
  retract,
  session,
  storeContract,
} from '../../test/stores/store-contract.ts'
import { vaultContract } from '../../test/stores/vault-contract.ts'
import { FileStore } from './file-store.ts'
import { SCHEMA_VERSION } from './migrations.ts'

/** A `store.log` that the first version of the store wrote. */
const versionOne = join(import.meta.dir, '../../test/fixtures/file-store-version-1.txt')
const root = await mkdtemp(join(tmpdir(), 'sotto-store-'))
let folders = 0
const newFolder = () => join(root, String(++folders))
const log = (folder: string) => join(folder, 'store.log')

const opened: FileStore[] = []
const openStore = async (folder: string): Promise<FileStore> => {
  const store = await FileStore.open(folder)
  opened.push(store)
  return store
}

afterAll(async () => {
  for (const store of opened) await store.close()
  await rm(root, { recursive: true })
})

async function ids(store: FileStore): Promise<string[]> {
  return (await store.listMessages(conversationId)).map(({ id }) => id)
}

/** The content of all files in a folder. */
async function textOf(folder: string): Promise<string> {
  const names = await readdir(folder)
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
}

async function storeOf(count: number): Promise<string> {
  const folder = newFolder()
  const store = await openStore(folder)
  for (let seq = 1; seq <= count; seq += 1)
    await store.write([{ change: 'message', message: messageOf({ id: `m${seq}`, seq }) }])
  await store.close()
  return folder
}

describe('file store', () => {
  const open = async () => {
    const folder = newFolder()
    const store = await openStore(folder)
    const reopen = async () => {
      await store.close()
      return openStore(folder)
    }
    return { store, reopen }
  }
  storeContract(open)
  pagesContract(open)
  organisedContract(open)
  vaultContract(open)
  secretStatesContract(open, 'file')

  test('a resolved write is in the file, even if the process crashes', async () => {
    const folder = newFolder()
    const store = await openStore(folder)
    await store.write([{ change: 'message', message: messageOf({ id: 'a', seq: 1 }) }])
    // A copy made now equals the file that a crash would leave.
    const crashed = newFolder()
    await cp(folder, crashed, { recursive: true })
    await rm(join(crashed, 'lock'))
    expect(await ids(await openStore(crashed))).toEqual(['a'])
    await store.close()
  })

  test('a write cut short at any byte loses nothing that was written before it', async () => {
    const folder = await storeOf(2)
    const whole = await readFile(log(folder))
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1
    for (let length = lastLine; length < whole.length; length += 7) {
      await writeFile(log(folder), whole)
      await truncate(log(folder), length)
      const torn = await openStore(folder)
      expect(await ids(torn)).toEqual(['m1'])
      await torn.write([{ change: 'message', message: messageOf({ id: 'next', seq: 2 }) }])
      await torn.close()
      const after = await openStore(folder)
      expect(await ids(after)).toEqual(['m1', 'next'])
      await after.close()
    }
  })

  test('rubbish after the last write is dropped', async () => {
    const folder = await storeOf(2)
    await appendFile(log(folder), Buffer.alloc(4096))
    const store = await openStore(folder)
    expect(await ids(store)).toEqual(['m1', 'm2'])
    await store.close()
    expect((await readFile(log(folder))).includes(0)).toBe(false)
  })

  test('of a file with a damaged line, only that line is lost, and the damaged file is kept', async () => {
    const folder = await storeOf(3)
    const text = await readFile(log(folder), 'utf8')
    await writeFile(log(folder), text.replace('"m2"', '"mX"'))
    const store = await openStore(folder)
    expect(await ids(store)).toEqual(['m1', 'm3'])
    await store.close()
    expect(await ids(await openStore(folder))).toEqual(['m1', 'm3'])
    expect((await readdir(folder)).filter((name) => name.startsWith('store.log.damaged-')).length).toBe(1)
  })

  test('damaged lines at the end are no interrupted write, so the damaged file is kept', async () => {
    const folder = await storeOf(3)
    const text = await readFile(log(folder), 'utf8')
    await writeFile(log(folder), text.replace('"m2"', '"mX"').replace('"m3"', '"mX"'))
    const store = await openStore(folder)
    expect(await ids(store)).toEqual(['m1'])
    await store.close()
    const [copy = ''] = (await readdir(folder)).filter((name) => name.startsWith('store.log.damaged-'))
    expect(await readFile(join(folder, copy), 'utf8')).toContain('"mX"')
  })

  test('a file that has grown is rewritten, and loses nothing', async () => {
    const folder = newFolder()
    const store = await openStore(folder)
    const text = 'x'.repeat(10_000)
    await store.write([{ change: 'message', message: messageOf({ id: 'kept', seq: 1, text }) }])
    for (let at = 0; at < 400; at += 1) {
      await store.write([
        { change: 'message', message: messageOf({ id: 'changing', seq: 2, text: `${text}${at}` }) },
      ])
    }
    await store.close()
    expect((await stat(log(folder))).size).toBeLessThan(2 * 1024 * 1024)
    const again = await openStore(folder)
    expect((await again.findMessage(conversationId, false, 'changing'))?.text.endsWith('399')).toBe(true)
    expect(await ids(again)).toEqual(['kept', 'changing'])
    await again.close()
  })

  test('a rewrite loses no record of any kind', async () => {
    const folder = newFolder()
    const store = await openStore(folder)
    const trust = { status: 'verified', verifiedAt: 7, fingerprintSnapshot: 'ab' } as const
    const vault = { kind: 'key', wrappedKey: 'AAAA' } as const
    const settings = { conversationId, draft: 'a draft', pinned: 1 }
    const call = {
      ...{ id: 'call', conversationId, isCaller: true, startedAt: 1, end: 'hung_up', missed: false },
    }
    const mark = { conversationId, readSeq: 4, toldSeq: 3 }
    const messages = Array.from({ length: 450 }, (_, at) => messageOf({ id: `m${at}`, seq: at + 1 }))
    await store.write([
      { change: 'identity', identity },
      { change: 'session', session },
      { change: 'trust', conversationId, trust },
      { change: 'friends', friends: [friend] },
      { change: 'message', message: messageOf({ id: 'gone', seq: 900, nonce: 'nonce' }) },
      ...messages.map((message) => ({ change: 'message', message }) as const),
      { change: 'outbox_added', intent: intentOf('waits') },
      { change: 'retract_added', intent: retract },
      { change: 'offline_added', message: offline },
      { change: 'read_mark', mark },
      { change: 'settings', settings },
      { change: 'call_logged', call },
      { change: 'message_removed', conversationId, isMe: false, id: 'gone' },
    ])
    const { ino } = await stat(log(folder))
    // Setting the vault rewrites the file.
    await store.write([{ change: 'vault', vault }])
    await store.close()
    expect((await stat(log(folder))).ino).not.toBe(ino)
    const again = await openStore(folder)
    expect(await again.getVault()).toEqual(vault)
    expect(await again.getIdentity()).toEqual(identity)
    expect(await again.listSessions()).toEqual([session])
    expect(await again.getTrust(conversationId)).toEqual(trust)
    expect(await again.listFriends()).toEqual([friend])
    expect(await again.listMessages(conversationId)).toEqual(messages)
    expect(await again.findMessage(conversationId, false, 'gone')).toMatchObject({ removed: true })
    expect(await again.hasNonce(conversationId, 'nonce')).toBe(true)
    expect(await again.listOutbox()).toEqual([intentOf('waits')])
    expect(await again.listRetractIntents()).toEqual([retract])
    expect(await again.listOfflineMessages()).toEqual([offline])
    expect(await again.listReadMarks()).toEqual([mark])
    expect(await again.listSettings()).toEqual([settings])
    expect(await again.listCalls()).toEqual([call])
    await again.close()
  })

  test('after a rewrite that a crash cut short, the old file is still used', async () => {
    const folder = await storeOf(1)
    await writeFile(`${log(folder)}.next`, 'half a fi')
    const store = await openStore(folder)
    expect(await ids(store)).toEqual(['m1'])
    await store.close()
  })

  test('only the owner of the folder can read the store', async () => {
    const folder = await storeOf(1)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(log(folder))).mode & 0o777).toBe(0o600)
  })

  test('a folder can be open only once at a time, in one process or in several', async () => {
    const folder = newFolder()
    const store = await openStore(folder)
    const refused = await failureOf(openStore(folder))
    expect(refused).toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('in this process'),
    })
    const script = `const { FileStore } = await import(${JSON.stringify(new URL('./file-store.ts', import.meta.url).href)})
      await FileStore.open(${JSON.stringify(folder)}).then(() => console.log('opened'), (error) => console.log(error.code))`
    const other = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
    expect((await new Response(other.stdout).text()).trim()).toBe('STORE_LOCKED')
    await store.close()
    await (await openStore(folder)).close()
  })

  test('the lock of a process that has ended, or crashed while writing the lock, is taken over', async () => {
    const gone = Bun.spawn(['true'])
    await gone.exited
    for (const lock of [
      JSON.stringify({ pid: gone.pid, startedAt: '1' }),
      JSON.stringify({ pid: process.pid, startedAt: '1' }),
    ]) {
      const folder = await storeOf(1)
      await writeFile(join(folder, 'lock'), lock)
      await (await openStore(folder)).close()
    }
    const folder = await storeOf(1)
    await writeFile(join(folder, 'lock'), '')
    const longAgo = new Date(Date.now() - 60_000)
    await utimes(join(folder, 'lock'), longAgo, longAgo)
    await (await openStore(folder)).close()
  })

  test('a lock is taken over although a running process has the pid of its dead owner', async () => {
    const folder = await storeOf(1)
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: process.ppid, startedAt: '1' }))
    await (await openStore(folder)).close()
  })

  test('a store of a newer version is refused with an error that names both versions, and is not changed', async () => {
    const folder = newFolder()
    await (await openStore(folder)).close()
    const json = JSON.stringify({ format: 'sotto-client-store', version: 99 })
    const line = `${createHash('sha256').update(json).digest('hex').slice(0, 16)} ${json}\n`
    await writeFile(log(folder), line)
    expect(await failureOf(openStore(folder))).toMatchObject({
      code: 'STORE_FAILED',
      message: `the store has version 99, this program knows versions up to ${SCHEMA_VERSION}: it was written by a newer one`,
    })
    expect(await readFile(log(folder), 'utf8')).toBe(line)
    expect(await readdir(folder)).toEqual(['store.log'])
  })

  test('a file with another header, in the same format of lines, is refused and not changed', async () => {
    const folder = newFolder()
    await (await openStore(folder)).close()
    const json = JSON.stringify({ format: 'another program', version: 1 })
    const line = `${createHash('sha256').update(json).digest('hex').slice(0, 16)} ${json}\n`
    await writeFile(log(folder), line)
    expect(await failureOf(openStore(folder))).toMatchObject({
      ...{ code: 'STORE_FAILED', message: 'the folder holds no store of this client' },
    })
    expect(await readFile(log(folder), 'utf8')).toBe(line)
  })

  test('a store of version 1 is upgraded on opening, and keeps all its data', async () => {
    const folder = newFolder()
    await mkdir(folder)
    await copyFile(versionOne, log(folder))
    // A crash during an earlier upgrade leaves this file.
    await writeFile(`${log(folder)}.next`, 'half a fi')
    for (let time = 1; time <= 2; time += 1) {
      const store = await openStore(folder)
      expect(await store.getIdentity()).toMatchObject({
        aliasId: 'me_myself',
        mnemonic: expect.stringContaining('legal winner'),
      })
      expect(await store.listSessions()).toMatchObject([
        { trustState: 'verified', formerAliasIds: ['alice_before'] },
      ])
      expect(await store.getTrust(conversationId)).toMatchObject({ status: 'verified', verifiedAt: 7 })
      expect((await store.listFriends()).map(({ nickname }) => nickname)).toEqual(['Alice'])
      expect(await ids(store)).toEqual(['a', 'b', 'c'])
      expect(await store.findMessageBySeq(conversationId, 2)).toMatchObject({
        id: 'b',
        status: 'sent',
        time: 3,
      })
      expect((await store.listOutbox()).map(({ internalId }) => internalId)).toEqual(['c'])
      expect((await store.listRetractIntents()).map(({ messageId }) => messageId)).toEqual(['b'])
      expect(await store.listOfflineMessages()).toMatchObject([{ id: 'd', seq: 3 }])
      expect(await store.listReadMarks()).toEqual([{ conversationId, readSeq: 1, toldSeq: 1 }])
      expect(await store.getVault()).toBeUndefined()
      await store.close()
      const [header] = (await readFile(log(folder), 'utf8')).split('\n')
      expect(header).toEndWith(`{"format":"sotto-client-store","version":${SCHEMA_VERSION}}`)
    }
    expect(await readdir(folder)).toEqual(['store.log'])
  })

  test('secrets that a vault seals, or that are cleared, do not stay in the folder', async () => {
    const secrets = [identity.mnemonic, session.sessionKeyBase64]
    for (const last of [
      [
        { change: 'vault', vault: { kind: 'key', wrappedKey: 'AAAA' } },
        { change: 'identity', identity: { ...identity, mnemonic: 'sealed' } },
        { change: 'session', session: { ...session, sessionKeyBase64: 'sealed' } },
      ],
      [{ change: 'clear' }],
    ] as const) {
      const folder = newFolder()
      const store = await openStore(folder)
      await store.write([
        { change: 'identity', identity },
        { change: 'session', session },
      ])
      await store.close()
      // Because of this damaged line, the store keeps a copy of the file.
      const text = await readFile(log(folder), 'utf8')
      await writeFile(
        log(folder),
        `${text.slice(0, text.indexOf('\n') + 1)}damaged\n${text.slice(text.indexOf('\n') + 1)}`,
      )
      const again = await openStore(folder)
      for (const secret of secrets) expect(await textOf(folder)).toContain(secret)
      await again.write(last)
      for (const secret of secrets) expect(await textOf(folder)).not.toContain(secret)
      await again.close()
    }
  })

  test('a file that another program wrote is kept beside the new file', async () => {
    const folder = newFolder()
    await (await openStore(folder)).close()
    await writeFile(log(folder), 'something else\n'.repeat(100))
    await (await openStore(folder)).close()
    const damaged = (await readdir(folder)).filter((name) => name.startsWith('store.log.damaged-'))
    expect(damaged.length).toBe(1)
    expect(await ids(await openStore(folder))).toEqual([])
  })
})
