// The page of the benchmark of search: a client with its IndexedDB, which is filled without a relay.
import { IndexedDbStore } from '../../src/browser.ts'
import { Search, SottoClient } from '../../src/client.ts'
import type { StoreChange } from '../../src/stores/records.ts'

const relayUrl = location.hash.slice(1)
const store = await IndexedDbStore.open('search')
const client = await SottoClient.open({ relayUrl, store })
let search: Search | undefined

const page = {
  isReady: true,
  create: async (): Promise<void> => {
    await client.create({ nickname: 'me' })
  },
  write: (changes: readonly StoreChange[]): Promise<void> => store.write(changes),
  /** Indexes everything. Returns how long that took, in milliseconds. */
  index: async (): Promise<number> => {
    const startedAt = performance.now()
    search = new Search(client)
    await search.ready()
    return performance.now() - startedAt
  },
  /** Searches, and returns the number of results and how long it took, in milliseconds. */
  find: async (text: string): Promise<{ count: number; ms: number }> => {
    const startedAt = performance.now()
    const found = await search?.find(text)
    return { count: found?.results.length ?? 0, ms: performance.now() - startedAt }
  },
}

/** The functions that the benchmark calls in the page. */
export type SearchPage = typeof page

Object.assign(globalThis, page)
