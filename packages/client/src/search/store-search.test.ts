// Search in the stores that hold their messages in memory.
import { afterAll, describe } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conversations, type SearchUnderTest, searchContract } from '../../test/stores/search-contract.ts'
import { FileStore } from '../stores/file-store.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import type { ClientStore } from '../stores/store.ts'
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
