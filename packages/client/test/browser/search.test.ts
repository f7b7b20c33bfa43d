// Search in the IndexedDB store, through its index, in a real browser.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import type { SearchPage } from '../../src/client.ts'
import type { StoreSearchOptions } from '../../src/search/store-search.ts'
import { type SearchUnderTest, searchContract } from '../stores/search-contract.ts'
import { conversationId, messageOf } from '../stores/store-contract.ts'
import { openTab, type ServedApp, serveApp } from './chromium.ts'
import { inPage, storeIn } from './page-store.ts'
import { sharedChromium } from './shared-chromium.ts'

setDefaultTimeout(60_000)

let app: ServedApp
let context: BrowserContext
let page: Page
let databases = 0

beforeAll(async () => {
  app = await serveApp(join(import.meta.dir, 'stores-app.ts'))
  context = await (await sharedChromium()).newContext()
  page = await openTab(context, app)
})
afterAll(async () => {
  await context.close()
  await app.stop()
})

async function find(database: string, typed: string, options: StoreSearchOptions = {}): Promise<SearchPage> {
  // The page's answer is what `StoreSearch.find` returns.
  return (await inPage(page, 'search', database, typed, options)) as SearchPage
}

async function open(database: string, isSealed = false): Promise<SearchUnderTest> {
  await inPage(page, 'openStore', database, database, isSealed)
  const store = storeIn(page, database)
  return {
    store,
    find: (typed, options) => find(database, typed, options),
    reopen: async () => {
      await store.close()
      return open(database, isSealed)
    },
  }
}

const newDatabase = () => `search ${++databases}`

describe('search in an IndexedDB store', () => searchContract(() => open(newDatabase())))
describe('search in a sealed IndexedDB store', () => searchContract(() => open(newDatabase(), true)))

/** The messages of a database, and the words in its index. */
async function rowsIn(database: string): Promise<{ messages: unknown[]; words: { words?: string[] }[] }> {
  // `dump` answers the tables by name.
  return (await inPage(page, 'dump', database)) as { messages: unknown[]; words: { words?: string[] }[] }
}

test('nothing of a retracted or removed message stays in the index', async () => {
  const database = newDatabase()
  const { store } = await open(database)
  const texts = { a: 'a secret recipe', b: 'another secret', c: 'a third secret', d: 'harmless' }
  await store.write(
    Object.entries(texts).map(([id, text], at) => ({
      change: 'message',
      message: messageOf({ id, text, seq: at + 1, isMe: id === 'b', status: 'sent' }),
    })),
  )
  expect((await find(database, 'secret')).results.length).toBe(3)
  expect((await rowsIn(database)).words.map(({ words }) => words?.length)).toEqual([3, 2, 3, 1])
  const patch = { text: '', retracted: true } as const
  const retracted = messageOf({ id: 'c', text: '', retracted: true, seq: 3, status: 'sent' })
  await store.write([
    { change: 'message_patch', conversationId, isMe: true, id: 'b', patch },
    { change: 'message', message: retracted },
    { change: 'message_removed', conversationId, isMe: false, id: 'a' },
  ])
  // Before any other search, which would index them again.
  const rows = await rowsIn(database)
  expect(JSON.stringify(rows)).not.toMatch(/secret|recipe|third/)
  expect(rows.words.map(({ words }) => words?.length)).toEqual([undefined, undefined, undefined, 1])
  expect((await find(database, 'secret')).results).toEqual([])
  await store.write([{ change: 'messages_removed', conversationId }])
  expect(JSON.stringify(await rowsIn(database))).not.toContain('harmless')
  await store.close()
})

test('a store of the version without an index is searched with all its messages', async () => {
  const database = newDatabase()
  await inPage(page, 'makeDatabase', database, 3)
  await page.evaluate(
    ([database, messages]) =>
      new Promise<void>((resolve) => {
        const request = indexedDB.open(database)
        request.onsuccess = () => {
          const transaction = request.result.transaction('messages', 'readwrite')
          for (const message of messages) {
            const { conversationId, id, seq, time } = message
            const name = [conversationId, 'them', id]
            transaction.objectStore('messages').put({ message, name, order: [conversationId, seq, time] })
          }
          transaction.oncomplete = () => {
            request.result.close()
            resolve()
          }
        }
      }),
    [
      database,
      Array.from({ length: 450 }, (_, at) =>
        messageOf({ id: `m${at}`, seq: at + 1, time: at, text: `number ${at}` }),
      ),
    ] as const,
  )
  const { store } = await open(database)
  expect((await find(database, '449')).results.map(({ text }) => text)).toEqual(['number 449'])
  expect((await find(database, 'number', { limit: 500 })).results.length).toBe(450)
  await store.close()
})
