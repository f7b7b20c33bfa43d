// The IndexedDB store in a real browser: the store contract, and its behaviour with several tabs, crashes and
// full disks.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { SCHEMA_VERSION } from '../../src/stores/migrations.ts'
import type { StoredMessage } from '../../src/stores/records.ts'
import { organisedContract } from '../stores/organised-contract.ts'
import { pagesContract } from '../stores/pages-contract.ts'
import { conversationId, identity, messageOf, session, storeContract } from '../stores/store-contract.ts'
import { vaultContract } from '../stores/vault-contract.ts'
import { openTab, type ServedApp, serveApp, startChromiumWith } from './chromium.ts'
import { inPage, storeIn } from './page-store.ts'
import { bytesOf, killBrowser } from './profile.ts'
import { sharedChromium } from './shared-chromium.ts'

let browser: Browser
let app: ServedApp
let context: BrowserContext
let page: Page
let databases = 0
const newDatabase = () => `database ${++databases}`

beforeAll(async () => {
  app = await serveApp(join(import.meta.dir, 'stores-app.ts'))
  browser = await sharedChromium()
  context = await browser.newContext()
  page = await openTab(context, app)
}, 120_000)
afterAll(async () => {
  await context.close()
  await app.stop()
}, 120_000)

async function reload(tab: Page): Promise<void> {
  await tab.reload()
  await tab.waitForFunction(() => 'isReady' in globalThis)
}

async function openIn(tab: Page, database: string, { name = database, isSealed = false } = {}) {
  await inPage(tab, 'openStore', name, database, isSealed)
  return storeIn(tab, name)
}

async function open(options: { isSealed?: boolean } = {}) {
  const database = newDatabase()
  const store = await openIn(page, database, options)
  const reopen = async () => {
    await store.close()
    await reload(page)
    return openIn(page, database, options)
  }
  return { store, reopen }
}

const put = (id: string, seq: number, fields: Partial<StoredMessage> = {}) =>
  ({ change: 'message', message: messageOf({ id, seq, ...fields }) }) as const

describe('IndexedDB store', () => {
  storeContract(() => open())
  pagesContract(() => open())
  organisedContract(() => open())
  vaultContract(() => open())
})

describe('sealed IndexedDB store', () => {
  storeContract(() => open({ isSealed: true }))
  organisedContract(() => open({ isSealed: true }))
})

describe('a database', () => {
  test('keeps nothing of the text of removed messages', async () => {
    const database = newDatabase()
    const store = await openIn(page, database)
    await store.write([
      put('a', 1, { text: 'first hidden' }),
      put('b', 2, { text: 'second hidden', caption: 'hidden name' }),
    ])
    expect(JSON.stringify(await inPage(page, 'dump', database))).toContain('first hidden')
    await store.write([{ change: 'message_removed', conversationId, isMe: false, id: 'a' }])
    expect(JSON.stringify(await inPage(page, 'dump', database))).not.toContain('first hidden')
    await store.write([{ change: 'messages_removed', conversationId }])
    expect(JSON.stringify(await inPage(page, 'dump', database))).not.toContain('hidden')
  })

  test('can be open in two stores, and each store sees the writes of the other', async () => {
    const database = newDatabase()
    const first = await openIn(page, database, { name: 'first' })
    const second = await openIn(page, database, { name: 'second' })
    await first.write([put('a', 1)])
    await second.write([put('b', 2)])
    const writes = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? first : second).write([put('last', 3, { text: `${at}` })]),
    )
    await Promise.all(writes)
    const lists = [await first.listMessages(conversationId), await second.listMessages(conversationId)]
    expect(lists[0]).toEqual(lists[1])
    // The writes of one store keep the order of its calls. The writes of two stores have no common order.
    expect(lists[0]?.map(({ id }) => id)).toEqual(['a', 'b', 'last'])
    expect(lists[0]?.at(-1)?.text).toMatch(/^1[89]$/)
    await first.close()
    expect((await second.listMessages(conversationId)).length).toBe(3)
    expect(await failureOf(first.listMessages(conversationId))).toMatchObject({ code: 'CLOSED' })
  })

  test('of a newer schema is refused with an error that names both versions, and is not changed', async () => {
    const database = newDatabase()
    await inPage(page, 'makeDatabase', database, 99)
    const before = await inPage(page, 'dump', database)
    expect(await failureOf(openIn(page, database))).toMatchObject({
      code: 'STORE_FAILED',
      message: `the store has version 99, this program knows versions up to ${SCHEMA_VERSION}: it was written by a newer one`,
    })
    expect(await inPage(page, 'dump', database)).toEqual(before)
  })

  test('of an older schema is upgraded on opening', async () => {
    const database = newDatabase()
    await inPage(page, 'makeDatabase', database, 1)
    expect(await inPage(page, 'dump', database)).not.toHaveProperty('vault')
    const store = await openIn(page, database)
    await store.write([put('a', 1), { change: 'vault', vault: { kind: 'key', wrappedKey: 'AAAA' } }])
    expect(await store.getVault()).toEqual({ kind: 'key', wrappedKey: 'AAAA' })
    expect(await inPage(page, 'dump', database)).toMatchObject({ version: SCHEMA_VERSION })
  })

  test('that a newer program upgrades, or that another tab deletes, closes with a clear error', async () => {
    const database = newDatabase()
    const tab = await openTab(context, app)
    const store = await openIn(page, database)
    const written = store.write([put('a', 1)])
    await inPage(tab, 'makeDatabase', database, 99)
    await written
    const message = 'another tab of this site has a newer version of the app: reload this one'
    expect(await failureOf(store.write([put('b', 2)]))).toMatchObject({ code: 'STORE_FAILED', message })
    expect(await failureOf(store.listMessages(conversationId))).toMatchObject({
      code: 'STORE_FAILED',
      message,
    })
    await store.close()

    const other = await openIn(page, newDatabase(), { name: 'other' })
    await inPage(tab, 'deleteStore', `database ${databases}`)
    expect(await failureOf(other.getIdentity())).toMatchObject({
      code: 'STORE_FAILED',
      message: 'the store was deleted, by another tab of this site',
    })
    const again = await openIn(tab, `database ${databases}`)
    expect(await again.listMessages(conversationId)).toEqual([])
    await tab.close()
  })

  test('with an invalid record fails when that record is read', async () => {
    const database = newDatabase()
    const store = await openIn(page, database)
    await page.evaluate(
      (database) =>
        new Promise<void>((resolve) => {
          const request = indexedDB.open(database)
          request.onsuccess = () => {
            const transaction = request.result.transaction('values', 'readwrite')
            transaction.objectStore('values').put({ mnemonic: 7 }, 'identity')
            transaction.oncomplete = () => {
              request.result.close()
              resolve()
            }
          }
        }),
      database,
    )
    expect(await failureOf(store.getIdentity())).toMatchObject({
      code: 'STORE_FAILED',
      message: 'the store holds an invalid record',
    })
  })
})

describe('a write', () => {
  test('takes effect completely or not at all when the page is closed in the middle of it', async () => {
    let partial = 0
    for (const waitMs of [0, 15, 40, 90, 'until something is written']) {
      const database = newDatabase()
      const tab = await openTab(context, app)
      await openIn(tab, database)
      await tab.evaluate(
        ([database, conversationId]) =>
          Reflect.apply(Reflect.get(globalThis, 'writePairs'), undefined, [database, conversationId]),
        [database, conversationId],
      )
      await (typeof waitMs === 'number' ? Bun.sleep(waitMs) : untilPairsWritten(tab, 1))
      await tab.close()
      partial += await expectWholePairs(await openIn(page, database))
    }
    // Otherwise every page was closed before its first write, and the test checked nothing.
    expect(partial).toBeGreaterThan(0)
  }, 120_000)

  test('that resolved is stored after the browser is killed, and one that did not is never half stored', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'sotto-profile-'))
    const killed = await startChromiumWith(profile)
    const tab = await openTab(killed, app)
    const store = await openIn(tab, 'kept')
    await store.write([put('resolved', 1), { change: 'identity', identity }])
    await tab.evaluate(
      ([database, conversationId]) =>
        Reflect.apply(Reflect.get(globalThis, 'writePairs'), undefined, [database, conversationId]),
      ['kept', '22222222-2222-4222-8222-222222222222'],
    )
    await untilPairsWritten(tab, 20)
    await killBrowser(profile)
    const after = await startChromiumWith(profile)
    const again = await openIn(await openTab(after, app), 'kept')
    expect((await again.listMessages(conversationId)).map(({ id }) => id)).toEqual(['resolved'])
    expect(await again.getIdentity()).toEqual(identity)
    expect(await expectWholePairs(again, '22222222-2222-4222-8222-222222222222')).toBeGreaterThan(0)
    await after.close()
    await rm(profile, { recursive: true, force: true })
  }, 120_000)

  test('that exceeds the storage quota fails, and so do all later writes', async () => {
    const alone = await browser.newContext()
    const tab = await openTab(alone, app)
    // Sets the quota before any write, because a browser remembers for a while how much room it found.
    const devtools = await alone.newCDPSession(tab)
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: app.url, quotaSize: 4_000_000 })
    const store = await openIn(tab, 'full')
    await store.write([put('before', 1)])
    const large = put('large', 2, { text: Array.from({ length: 400_000 }, () => Math.random()).join('') })
    const noRoom = { code: 'STORE_FAILED', message: 'the browser’s storage quota for this site is full' }
    const failing = store.write([large, { change: 'identity', identity }])
    const after = store.write([put('after', 3)])
    expect(await Promise.allSettled([failing, after])).toMatchObject([{ reason: noRoom }, { reason: noRoom }])
    expect(await failureOf(store.write([put('later', 4)]))).toMatchObject(noRoom)
    expect(await failureOf(store.write([]))).toMatchObject(noRoom)
    expect((await store.listMessages(conversationId)).map(({ id }) => id)).toEqual(['before'])
    expect(await store.getIdentity()).toBeUndefined()
    await store.close()
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: app.url })
    const again = await openIn(tab, 'full')
    await again.write([put('again', 5)])
    expect((await again.listMessages(conversationId)).map(({ id }) => id)).toEqual(['before', 'again'])
    await alone.close()
  }, 120_000)
})

describe('a device key', () => {
  const everything = [
    { change: 'identity', identity },
    { change: 'session', session },
  ] as const

  test('seals the secrets stored before it, leaves none in plain text, and cannot be exported', async () => {
    const database = newDatabase()
    const plain = await openIn(page, database)
    await plain.write(everything)
    expect(JSON.stringify(await inPage(page, 'dump', database))).toContain(session.sessionKeyBase64)
    await plain.close()
    const store = await openIn(page, database, { isSealed: true })
    const dump = JSON.stringify(await inPage(page, 'dump', database))
    expect(dump).not.toContain('abandon abandon')
    expect(dump).not.toContain(session.sessionKeyBase64)
    expect(dump).toContain('sealed:1:')
    expect(dump).toContain('device_key')
    expect(await store.getIdentity()).toEqual(identity)
    await reload(page)
    const again = await openIn(page, database, { isSealed: true })
    expect(await again.listSessions()).toEqual([session])
    expect(new Set(Object.values(Object(await inPage(page, 'tryKeys'))))).toEqual(
      new Set(['InvalidAccessError']),
    )
  })

  test('keeps the phrase and session keys off the disk if the store is sealed from the start', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'sotto-profile-'))
    const own = await startChromiumWith(profile)
    const tab = await openTab(own, app)
    const store = await openIn(tab, 'sealed', { isSealed: true })
    await store.write([...everything, put('a', 1, { text: 'a text to be found' })])
    await store.close()
    await own.close()
    const bytes = await bytesOf(profile)
    expect(bytes.includes('a text to be found')).toBe(true)
    expect(bytes.includes('abandon abandon')).toBe(false)
    expect(bytes.includes(session.sessionKeyBase64)).toBe(false)
    expect(bytes.includes(Buffer.from(session.sessionKeyBase64, 'base64'))).toBe(false)
    await rm(profile, { recursive: true, force: true })
  }, 120_000)

  test('seals the store at the next opening if the page is closed before the vault is written', async () => {
    const database = newDatabase()
    const plain = await openIn(page, database)
    await plain.write(everything)
    await plain.close()
    // Every opening that is cut short leaves a store that opens, whether it is sealed or not.
    for (const waitMs of [0, 5, 10, 20, 40]) {
      const tab = await openTab(context, app)
      await tab.evaluate(
        (database) =>
          void Reflect.apply(Reflect.get(globalThis, 'openStore'), undefined, ['cut', database, true]),
        database,
      )
      await Bun.sleep(waitMs)
      await tab.close()
      const store = await openIn(page, database, { isSealed: true })
      expect(await store.getIdentity()).toEqual(identity)
      expect(await store.listSessions()).toEqual([session])
      await store.close()
      // Stores the secrets in plain text again, for the next round.
      await inPage(page, 'deleteStore', database)
      const fresh = await openIn(page, database)
      await fresh.write(everything)
      await fresh.close()
    }
  }, 120_000)

  test('that was deleted opens nothing', async () => {
    const alone = await browser.newContext()
    const tab = await openTab(alone, app)
    const store = await openIn(tab, 'lost', { isSealed: true })
    await store.write(everything)
    await store.close()
    await inPage(tab, 'deleteStore', 'sotto-keys')
    expect(await failureOf(openIn(tab, 'lost', { isSealed: true }))).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('the key of this device is gone'),
    })
    await alone.close()
  })
})

/** Waits until `writePairs` has written this many pairs. */
async function untilPairsWritten(tab: Page, count: number): Promise<void> {
  await tab.waitForFunction((count) => Reflect.get(globalThis, 'countPairs')() >= count, count, {
    polling: 5,
  })
}

/** Returns the number of stored pairs. Fails if half a pair is stored, or if an earlier pair is missing. */
async function expectWholePairs(
  store: Awaited<ReturnType<typeof openIn>>,
  conversation: string = conversationId,
): Promise<number> {
  const ids = (await store.listMessages(conversation)).map(({ id }) => id)
  expect(ids).toEqual(Array.from(ids, (_, at) => `${at % 2 === 0 ? 'a' : 'b'}${Math.floor(at / 2)}`))
  expect(ids.length % 2).toBe(0)
  await store.close()
  return ids.length / 2
}
