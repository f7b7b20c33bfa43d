// Search in the stores that hold their messages in memory.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conversations, type SearchUnderTest, searchContract } from '../../test/stores/search-contract.ts'
import { conversationId, messageOf } from '../../test/stores/store-contract.ts'
import { FileStore } from '../stores/file-store.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import type { ClientStore } from '../stores/store.ts'
import { MemoryBlocks } from './memory-blocks.ts'
import { StoreSearch } from './store-search.ts'

const root = await mkdtemp(join(tmpdir(), 'sotto-search-'))
const opened: ClientStore[] = []
let folders = 0

afterAll(async () => {
  for (const store of opened) await store.close()
  await rm(root, { recursive: true })
})

function underTest(store: ClientStore, again: () => Promise<ClientStore>): SearchUnderTest {
  const search = new StoreSearch(store)
  return {
    store,
    find: (typed, options = {}) => search.find(typed, options, conversations),
    reopen: async () => {
      await store.close()
      return underTest(await again(), again)
    },
  }
}

describe('search in a memory store', () =>
  searchContract(async () => {
    const store = new MemoryStore()
    return underTest(store, async () => {
      store.reopen()
      return store
    })
  }))

describe('search in a file store', () =>
  searchContract(async () => {
    const folder = join(root, String(++folders))
    const open = async () => {
      const store = await FileStore.open(folder)
      opened.push(store)
      return store
    }
    return underTest(await open(), open)
  }))

test('what changes between searches in memory costs a block, not everything', async () => {
  const store = new MemoryStore()
  let lines = 0
  const blocks = MemoryBlocks.of(store, {
    version: 1,
    lineOf: ({ text }) => {
      lines += 1
      return text
    },
  })
  const linesFor = async (): Promise<number> => {
    lines = 0
    await blocks.list([conversationId])
    return lines
  }
  const put = (at: number, text = 'text') =>
    ({ change: 'message', message: messageOf({ id: `m${at}`, seq: at + 1, time: at, text }) }) as const
  const removed = (at: number) =>
    ({ change: 'message_removed', conversationId, isMe: false, id: `m${at}` }) as const
  await store.write(Array.from({ length: 5000 }, (_, at) => put(10 + 2 * at)))
  expect(await linesFor()).toBe(5000)
  expect(await linesFor()).toBe(0)
  // At the end, in the middle, at the beginning.
  for (const change of [put(20_001), put(5001), put(1), put(2000, 'other'), removed(3000), removed(1)]) {
    await store.write([change])
    expect(await linesFor()).toBeLessThanOrEqual(129)
    expect(await linesFor()).toBe(0)
  }
  await store.write([put(4000, 'other')])
  await blocks.forget()
  expect(await linesFor()).toBeLessThanOrEqual(129)
  await store.write([{ change: 'messages_removed', conversationId }])
  await blocks.forget()
  expect(await linesFor()).toBe(0)
})
