// Search in the IndexedDB store, through its blocks, in a real browser.
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

setDefaultTimeout(240_000)

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

async function find(store: string, typed: string, options: StoreSearchOptions = {}): Promise<SearchPage> {
  // The page's answer is what `StoreSearch.find` returns.
  return (await inPage(page, 'search', store, typed, options)) as SearchPage
}

const open = (database: string, isSealed = false) => openAs(database, database, isSealed)

/** Opens a store of a database under a name of its own in the page. */
async function openAs(name: string, database: string, isSealed = false): Promise<SearchUnderTest> {
  await inPage(page, 'openStore', name, database, isSealed)
  const store = storeIn(page, name)
  return {
    store,
    find: (typed, options) => find(name, typed, options),
    reopen: async () => {
      await store.close()
      return openAs(name, database, isSealed)
    },
  }
}

const newDatabase = () => `search ${++databases}`

describe('search in an IndexedDB store', () => searchContract(() => open(newDatabase())))
describe('search in a sealed IndexedDB store', () => searchContract(() => open(newDatabase(), true)))

/** Everything in a database, by table. */
async function rowsIn(database: string): Promise<{ search_blocks: { name: number; lines: string }[] }> {
  // `dump` answers the tables by name.
  return (await inPage(page, 'dump', database)) as { search_blocks: { name: number; lines: string }[] }
}

/** Writes rows into a table of a database beside its store, as damage or an older program would. */
async function putRows(
  database: string,
  table: string,
  rows: readonly unknown[],
  key?: number,
): Promise<void> {
  await page.evaluate(
    ([database, table, rows, key]) =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open(database)
        request.onsuccess = () => {
          const transaction = request.result.transaction(table, 'readwrite')
          for (const row of rows) transaction.objectStore(table).put(row, key)
          transaction.onabort = () => reject(transaction.error)
          transaction.oncomplete = () => {
            request.result.close()
            resolve()
          }
        }
      }),
    [database, table, rows, key] as const,
  )
}

const linesIn = async (database: string) => (await rowsIn(database)).search_blocks.map(({ lines }) => lines)

test('nothing of a retracted or removed message stays in the blocks', async () => {
  const database = newDatabase()
  const { store } = await open(database)
  const texts = { a: 'a hidden recipe', b: 'another hidden', c: 'a third hidden', d: 'harmless' }
  await store.write(
    Object.entries(texts).map(([id, text], at) => ({
      change: 'message',
      message: messageOf({ id, text, seq: at + 1, isMe: id === 'b', status: 'sent' }),
    })),
  )
  expect((await find(database, 'hidden')).results.length).toBe(3)
  expect(await linesIn(database)).toEqual([
    ' a hidden recipe \n another hidden \n a third hidden \n harmless \n',
  ])
  const patch = { text: '', retracted: true } as const
  const retracted = messageOf({ id: 'c', text: '', retracted: true, seq: 3, status: 'sent' })
  await store.write([
    { change: 'message_patch', conversationId, isMe: true, id: 'b', patch },
    { change: 'message', message: retracted },
    { change: 'message_removed', conversationId, isMe: false, id: 'a' },
  ])
  // Before any other search, which would make the block again. No table has one of these words in its name.
  expect(await linesIn(database)).toEqual([])
  expect(JSON.stringify(await rowsIn(database))).not.toMatch(/hidden|recipe|third/)
  expect((await find(database, 'hidden')).results).toEqual([])
  expect(await linesIn(database)).toEqual([' harmless \n'])
  await store.write([{ change: 'messages_removed', conversationId }])
  expect(JSON.stringify(await rowsIn(database))).not.toContain('harmless')
  const later = messageOf({ id: 'e', text: 'harmless again', seq: 5 })
  await store.write([{ change: 'message', message: later }])
  expect((await find(database, 'harmless')).results.length).toBe(1)
  await store.write([{ change: 'clear' }])
  expect(await linesIn(database)).toEqual([])
  expect((await find(database, 'harmless')).results).toEqual([])
  await store.close()
})

for (const version of [3, 4]) {
  test(`a store of version ${version} is searched with all its messages, and its old index is gone`, async () => {
    const database = newDatabase()
    await inPage(page, 'makeDatabase', database, version)
    const messages = Array.from({ length: 450 }, (_, at) =>
      messageOf({ id: `m${at}`, seq: at + 1, time: at, text: `number ${at}` }),
    )
    const rows = messages.map((message) => ({
      message,
      name: [conversationId, 'them', message.id],
      order: [conversationId, message.seq, message.time],
    }))
    await putRows(database, 'messages', rows)
    if (version === 4) {
      await putRows(database, 'words', [{ words: ['number'] }], 1)
      await putRows(database, 'values', [{ version: 1, upToRow: 450 }], 7)
    }
    const { store } = await open(database)
    expect((await find(database, '449')).results.map(({ text }) => text)).toEqual(['number 449'])
    expect((await find(database, 'number', { limit: 500 })).results.length).toBe(450)
    expect(await rowsIn(database)).not.toHaveProperty('words')
    await store.close()
  })
}

test('a block that is damaged or of another version is made again', async () => {
  const database = newDatabase()
  const { store, reopen } = await open(database)
  const messages = Array.from({ length: 300 }, (_, at) =>
    messageOf({ id: `m${at}`, seq: at + 1, time: at, text: `number ${at}` }),
  )
  await store.write(messages.map((message) => ({ change: 'message', message })))
  expect((await find(database, 'number', { limit: 500 })).results.length).toBe(300)
  const { search_blocks: before } = await rowsIn(database)
  const [first, second, third] = before
  await putRows(database, 'search_blocks', [{ name: 0, lines: 7 }], 1)
  await putRows(database, 'search_blocks', [{ ...second, version: 0, lines: ' of another version \n' }], 2)
  await putRows(database, 'search_blocks', [{ lines: 'of no block' }], 9)
  const again = await reopen()
  expect((await again.find('number', { limit: 500 })).results.length).toBe(300)
  expect((await again.find('version')).results).toEqual([])
  expect((await rowsIn(database)).search_blocks.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
    [first, second, third].flatMap((row) => row ?? []),
  )
  await again.store.close()
})

test('a search sees what another store of the same database writes', async () => {
  const database = newDatabase()
  const [one, other] = [await open(database), await openAs(`${database}, other`, database)]
  const put = (id: string, text: string, seq: number) =>
    ({ change: 'message', message: messageOf({ id, text, seq, time: seq }) }) as const
  await one.store.write([put('a', 'red apple', 1)])
  const found = async ({ find }: SearchUnderTest) => (await find('red')).results.map(({ text }) => text)
  expect(await found(other)).toEqual(['red apple'])
  expect(await found(one)).toEqual(['red apple'])
  await other.store.write([put('b', 'red berry', 2)])
  expect(await found(one)).toEqual(['red berry', 'red apple'])
  await one.store.write([{ change: 'message_removed', conversationId, isMe: false, id: 'a' }])
  expect(await found(other)).toEqual(['red berry'])
  await other.store.write([{ change: 'clear' }, put('c', 'red cherry', 1)])
  expect(await found(one)).toEqual(['red cherry'])
  for (const { store } of [one, other]) await store.close()
})
