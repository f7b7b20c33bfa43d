// The file store when something fails under it: a full disk, a crash, another client that takes over.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { mountSmallDisk, type SmallDisk } from '../../relay/test/small-disk.ts'
import { FileStore } from '../src/stores/file-store.ts'
import type { StoreChange } from '../src/stores/records.ts'
import { nextRewriting } from './stores/rewriting.ts'
import { conversationId, messageOf } from './stores/store-contract.ts'

// Long, because a busy machine is slow.
setDefaultTimeout(240_000)

const MIB = 1024 * 1024
const root = await mkdtemp(join(tmpdir(), 'sotto-failures-'))
let folders = 0
const newFolder = () => join(root, String(++folders))
const log = (folder: string) => join(folder, 'store.log')
let disk: SmallDisk

beforeAll(async () => {
  disk = await mountSmallDisk(16)
})
afterAll(async () => {
  await disk?.remove()
  await rm(root, { recursive: true })
})

function message(id: string, text = 'text'): StoreChange {
  return { change: 'message', message: messageOf({ id, seq: Number(id), text }) }
}

async function ids(store: FileStore): Promise<string[]> {
  return (await store.listMessages(conversationId)).map(({ id }) => id)
}

test('after a write that the disk refuses, every later one is refused, and what was written stays', async () => {
  const folder = join(disk.folder, 'refused')
  const store = await FileStore.open(folder)
  await store.write([message('1')])
  disk.fillUpTo(0)
  const refused = { code: 'STORE_FAILED' }
  expect(await failureOf(store.write([message('2', 'x'.repeat(MIB))]))).toMatchObject(refused)
  disk.empty()
  expect(await failureOf(store.write([message('3')]))).toMatchObject(refused)
  await store.close()
  const again = await FileStore.open(folder)
  expect(await ids(again)).toEqual(['1'])
  await again.close()
})

test('without room for a second file the store goes on, and removes a deleted text once there is room', async () => {
  const folder = join(disk.folder, 'no-room')
  const store = await FileStore.open(folder)
  await store.write([message('1', 'a secret'), message('2', 'x'.repeat(5 * MIB))])
  // This write comes after the rewriting of a file that has grown.
  await store.write([])
  disk.fillUpTo(2 * MIB)
  const tried = nextRewriting(folder)
  await store.write([{ change: 'message_removed', conversationId, isMe: false, id: '1' }])
  await tried
  await store.write([message('3')])
  expect(await readdir(folder)).not.toContain('store.log.next')
  expect(await failureOf(store.close())).toMatchObject({ code: 'STORE_FAILED' })
  // The next run opens it although the disk is still full.
  const again = await FileStore.open(folder)
  expect(await ids(again)).toEqual(['2', '3'])
  expect(await readFile(log(folder), 'utf8')).toContain('a secret')
  disk.empty()
  await again.close()
  expect(await readFile(log(folder), 'utf8')).not.toContain('a secret')
})

test('a header that a crash cut short is written again, and nothing is taken for damage', async () => {
  const folder = newFolder()
  await (await FileStore.open(folder)).close()
  await truncate(log(folder), 10)
  const store = await FileStore.open(folder)
  await store.write([message('1')])
  await store.close()
  const again = await FileStore.open(folder)
  expect(await ids(again)).toEqual(['1'])
  await again.close()
  expect(await readdir(folder)).toEqual(['store.log'])
})

test('closing waits for the writes before it', async () => {
  const folder = newFolder()
  const store = await FileStore.open(folder)
  const writes = ['1', '2', '3'].map((id) => store.write([message(id)]))
  await store.close()
  const again = await FileStore.open(folder)
  expect(await ids(again)).toEqual(['1', '2', '3'])
  await again.close()
  await Promise.all(writes)
})

test('an abandoned store writes nothing that it had not begun, not even by rewriting the file', async () => {
  const folder = newFolder()
  const store = await FileStore.open(folder)
  // The store has nothing to do, so it begins this write at once, and the next ones wait.
  const begun = store.write([message('1'), message('2')])
  const removal = store.write([{ change: 'messages_removed', conversationId }])
  const late = store.write([message('3')])
  const refusals = Promise.all([removal, late].map(failureOf))
  const abandoned = store.abandon()
  expect(await refusals).toMatchObject([{ code: 'CLOSED' }, { code: 'CLOSED' }])
  await begun
  await abandoned
  const again = await FileStore.open(folder)
  expect(await ids(again)).toEqual(['1', '2'])
  await again.close()
})
