// What the file store keeps of removed data in its folder: nothing of messages for long, and the copy of a
// damaged file as long as it may be needed.
import { afterAll, expect, test } from 'bun:test'
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { nextRewriting } from '../../test/stores/rewriting.ts'
import { conversationId, identity, messageOf, offline } from '../../test/stores/store-contract.ts'
import { FileStore } from './file-store.ts'
import { keyVault } from './key-vault.ts'
import type { StoreChange } from './records.ts'
import { SealedStore } from './sealed-store.ts'

const root = await mkdtemp(join(tmpdir(), 'sotto-removal-'))
let folders = 0
const newFolder = () => join(root, String(++folders))
const log = (folder: string) => join(folder, 'store.log')
afterAll(() => rm(root, { recursive: true }))

const texts = [
  'retracted here',
  'retracted by them',
  'waits unread',
  'deleted alone',
  'edited later',
  'deleted with all',
]
const [own = '', theirs = '', unread = '', alone = '', edited = '', last = ''] = texts
const written: readonly StoreChange[] = [
  { change: 'message', message: messageOf({ id: 'own', seq: 1, isMe: true, text: own }) },
  { change: 'message', message: messageOf({ id: 'theirs', seq: 2, text: theirs }) },
  { change: 'offline_added', message: { ...offline, seq: 3, payloadEncrypted: unread } },
  { change: 'message', message: messageOf({ id: 'alone', seq: 4, text: alone }) },
  { change: 'message', message: messageOf({ id: 'edited', seq: 6, text: edited }) },
  { change: 'message', message: messageOf({ id: 'last', seq: 5, text: last }) },
]
const patch = { text: '', retracted: true } as const
/** Each removes the text at its place in `texts`; the last one removes every message. */
const removals: readonly StoreChange[] = [
  { change: 'message_patch', conversationId, isMe: true, id: 'own', patch },
  { change: 'message', message: messageOf({ id: 'theirs', seq: 2, ...patch }) },
  { change: 'offline_removed', conversationId, seq: 3 },
  { change: 'message_removed', conversationId, isMe: false, id: 'alone' },
  { change: 'message_patch', conversationId, isMe: false, id: 'edited', patch: { text: 'new', editedAt: 1 } },
  { change: 'messages_removed', conversationId },
]

/** The content of all files in a folder. */
async function textOf(folder: string): Promise<string> {
  const names = await readdir(folder)
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
}

async function copiesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('store.log.damaged-'))
}

/** A damaged store without its identity: only the copy has its phrase. */
async function damagedFolder(): Promise<string> {
  const folder = newFolder()
  const store = await FileStore.open(folder)
  await store.write([{ change: 'identity', identity }])
  await store.close()
  const text = await readFile(log(folder), 'utf8')
  await writeFile(log(folder), text.replace('"nickname"', '"nicknam_"'))
  return folder
}

test('what is removed from messages leaves the file soon, while the store goes on', async () => {
  const folder = newFolder()
  const store = await FileStore.open(folder)
  await writeFile(join(folder, 'store.log.damaged-1'), 'what could be read')
  await store.write(written)
  const rewritten = nextRewriting(folder)
  for (const removal of removals.slice(0, 5)) await store.write([removal])
  await rewritten
  const text = await textOf(folder)
  for (const removed of [own, theirs, unread, alone, edited]) expect(text).not.toContain(removed)
  expect(text).toContain(last)
  // One deleted message is no reason to remove what may still be rescued.
  expect(text).toContain('what could be read')
  await store.close()
})

test('what is removed from messages leaves the file on closing, and after a crash as well', async () => {
  for (const [at, removal] of removals.entries()) {
    const [folder, crashed] = [newFolder(), newFolder()]
    const store = await FileStore.open(folder)
    await store.write(written)
    await store.write([removal])
    // A copy made now equals the file that a crash would leave.
    await cp(folder, crashed, { recursive: true })
    await rm(join(crashed, 'lock'))
    const opened = await FileStore.open(crashed)
    expect(await opened.listMessages(conversationId)).toEqual(await store.listMessages(conversationId))
    for (const each of [store, opened]) await each.close()
    for (const place of [folder, crashed]) expect(await textOf(place)).not.toContain(texts[at] ?? '')
    // Nothing is left that has to be rewritten again.
    const { ino } = await stat(log(folder))
    await (await FileStore.open(folder)).close()
    expect((await stat(log(folder))).ino).toBe(ino)
  }
})

test('the copy of a damaged file stays while the store has no identity, and goes when its identity does', async () => {
  const folder = await damagedFolder()
  const vaults = [keyVault(new Uint8Array(32))]
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
  const store = await SealedStore.open({ store: await FileStore.open(folder), vaults, randomBytes })
  expect([await store.getIdentity(), store.isSealed]).toEqual([undefined, true])
  expect(await textOf(folder)).toContain(identity.mnemonic)
  // An import begins like this, and ends like this if it fails; recovering begins like this as well.
  await store.write([{ change: 'clear' }])
  await store.write([{ change: 'clear' }, { change: 'identity', identity }])
  expect(await copiesIn(folder)).toHaveLength(1)
  await store.write([{ change: 'clear' }])
  expect(await copiesIn(folder)).toEqual([])
  await store.close()
})

test('sealing the identity of a damaged store removes the copy, which has its phrase in plain', async () => {
  const folder = await damagedFolder()
  const store = await FileStore.open(folder)
  await store.write([{ change: 'identity', identity }])
  expect(await copiesIn(folder)).toHaveLength(1)
  await store.write([{ change: 'vault', vault: { kind: 'key', wrappedKey: 'AAAA' } }])
  expect(await copiesIn(folder)).toEqual([])
  await store.close()
})

test('a sealed store whose vault record is lost is refused, and its secrets are not sealed again', async () => {
  const folder = newFolder()
  const vaults = [keyVault(new Uint8Array(32))]
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
  const seal = (store: FileStore) => SealedStore.open({ store, vaults, randomBytes })
  const sealed = await seal(await FileStore.open(folder))
  await sealed.write([{ change: 'identity', identity }])
  await sealed.close()
  const lines = (await readFile(log(folder), 'utf8')).split('\n')
  await writeFile(log(folder), lines.filter((line) => !line.includes('"vault"')).join('\n'))
  const before = await readFile(log(folder), 'utf8')
  const store = await FileStore.open(folder)
  expect(await failureOf(seal(store))).toMatchObject({
    code: 'STORE_FAILED',
    message: 'the vault record of this store is gone',
  })
  await store.close()
  expect(await readFile(log(folder), 'utf8')).toBe(before)
})
