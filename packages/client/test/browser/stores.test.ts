// The IndexedDB store in a real browser, held to the store contract and to what tabs, crashes and full disks do to it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { SCHEMA_VERSION } from '../../src/stores/migrations.ts'
import type { StoredMessage } from '../../src/stores/records.ts'
import {
  conversationId,
  identity,
  messageOf,
  session,
  storeContract,
} from '../../src/stores/store-contract.ts'
import { vaultContract } from '../../src/stores/vault-contract.ts'
import { openTab, type ServedApp, serveApp, startChromium, startChromiumWith } from './chromium.ts'
import { inPage, storeIn } from './page-store.ts'

let browser: Browser
let app: ServedApp
let context: BrowserContext
let page: Page
let databases = 0
const newDatabase = () => `database ${++databases}`

beforeAll(async () => {
  app = await serveApp(join(import.meta.dir, 'stores-app.ts'))
  browser = await startChromium()
  context = await browser.newContext()
  page = await openTab(context, app)
}, 60_000)
afterAll(async () => {
  await browser.close()
  await app.stop()
}, 60_000)

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
  vaultContract(() => open())
})

describe('sealed IndexedDB store', () => storeContract(() => open({ isSealed: true })))

describe('a database', () => {
  test('is the same for two stores of its name, and each sees what the other writes', async () => {
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
    // Each store's writes are in the order of its calls; those of two have none.
    expect(lists[0]?.map(({ id }) => id)).toEqual(['a', 'b', 'last'])
    expect(lists[0]?.at(-1)?.text).toMatch(/^1[89]$/)
    await first.close()
    expect((await second.listMessages(conversationId)).length).toBe(3)
    await expect(first.listMessages(conversationId)).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('of a newer schema is refused, naming both versions, and left as it is', async () => {
    const database = newDatabase()
    await inPage(page, 'makeDatabase', database, 99)
    const before = await inPage(page, 'dump', database)
    await expect(openIn(page, database)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: `the store has version 99, this program knows versions up to ${SCHEMA_VERSION}: it was written by a newer one`,
    })
    expect(await inPage(page, 'dump', database)).toEqual(before)
  })

  test('of an older schema is brought up to date on opening', async () => {
    const database = newDatabase()
    await inPage(page, 'makeDatabase', database, 1)
    expect(await inPage(page, 'dump', database)).not.toHaveProperty('vault')
    const store = await openIn(page, database)
    await store.write([put('a', 1), { change: 'vault', vault: { kind: 'key', wrappedKey: 'AAAA' } }])
    expect(await store.getVault()).toEqual({ kind: 'key', wrappedKey: 'AAAA' })
    expect(await inPage(page, 'dump', database)).toMatchObject({ version: SCHEMA_VERSION })
  })

  test('that a newer program upgrades, or that is deleted, is let go of with a clear error', async () => {
    const database = newDatabase()
    const tab = await openTab(context, app)
    const store = await openIn(page, database)
    const written = store.write([put('a', 1)])
    await inPage(tab, 'makeDatabase', database, 99)
    await written
    const message = 'another tab of this site has a newer version of the app: reload this one'
    await expect(store.write([put('b', 2)])).rejects.toMatchObject({ code: 'STORE_FAILED', message })
    await expect(store.listMessages(conversationId)).rejects.toMatchObject({ code: 'STORE_FAILED', message })
    await store.close()

    const other = await openIn(page, newDatabase(), { name: 'other' })
    await inPage(tab, 'deleteStore', `database ${databases}`)
    await expect(other.getIdentity()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: 'the store was deleted, by another tab of this site',
    })
    const again = await openIn(tab, `database ${databases}`)
    expect(await again.listMessages(conversationId)).toEqual([])
    await tab.close()
  })

  test('that holds what this program never wrote is not taken for ours', async () => {
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
    await expect(store.getIdentity()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: 'the store holds what this program never wrote',
    })
  })
})

describe('a write', () => {
  test('is all or nothing when the page goes away in the middle of it', async () => {
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
    // Else every page went before its first write, or wrote to its end, and nothing was seen.
    expect(partial).toBeGreaterThan(0)
  }, 60_000)

  test('that resolved is there after the browser was killed, and no half of one that did not', async () => {
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
    await kill(profile)
    const after = await startChromiumWith(profile)
    const again = await openIn(await openTab(after, app), 'kept')
    expect((await again.listMessages(conversationId)).map(({ id }) => id)).toEqual(['resolved'])
    expect(await again.getIdentity()).toEqual(identity)
    expect(await expectWholePairs(again, '22222222-2222-4222-8222-222222222222')).toBeGreaterThan(0)
    await after.close()
    await rm(profile, { recursive: true, force: true })
  }, 60_000)

  test('for which there is no room fails, and with it all that come after', async () => {
    const alone = await browser.newContext()
    const tab = await openTab(alone, app)
    // Before anything is written: a browser remembers for a while how much room it found.
    const devtools = await alone.newCDPSession(tab)
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: app.url, quotaSize: 4_000_000 })
    const store = await openIn(tab, 'full')
    await store.write([put('before', 1)])
    const large = put('large', 2, { text: Array.from({ length: 400_000 }, () => Math.random()).join('') })
    const noRoom = { code: 'STORE_FAILED', message: 'the browser gives this site no more room to store' }
    const failing = store.write([large, { change: 'identity', identity }])
    const after = store.write([put('after', 3)])
    expect(await Promise.allSettled([failing, after])).toMatchObject([{ reason: noRoom }, { reason: noRoom }])
    await expect(store.write([put('later', 4)])).rejects.toMatchObject(noRoom)
    await expect(store.write([])).rejects.toMatchObject(noRoom)
    expect((await store.listMessages(conversationId)).map(({ id }) => id)).toEqual(['before'])
    expect(await store.getIdentity()).toBeUndefined()
    await store.close()
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: app.url })
    const again = await openIn(tab, 'full')
    await again.write([put('again', 5)])
    expect((await again.listMessages(conversationId)).map(({ id }) => id)).toEqual(['before', 'again'])
    await alone.close()
  }, 60_000)
})

describe('a device key', () => {
  const everything = [
    { change: 'identity', identity },
    { change: 'session', session },
  ] as const

  test('seals what was stored before it, leaves nothing plain, and cannot be taken out', async () => {
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

  test('sealed from the first, neither phrase nor session key ever reaches the disk', async () => {
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
  }, 60_000)

  test('made, and the page gone before the vault was written: the next opening seals', async () => {
    const database = newDatabase()
    const plain = await openIn(page, database)
    await plain.write(everything)
    await plain.close()
    // Of many openings that are cut short, each leaves a store that opens, sealed or not.
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
      // Open again, for the next round.
      await inPage(page, 'deleteStore', database)
      const fresh = await openIn(page, database)
      await fresh.write(everything)
      await fresh.close()
    }
  }, 60_000)

  test('that is gone opens nothing', async () => {
    const alone = await browser.newContext()
    const tab = await openTab(alone, app)
    const store = await openIn(tab, 'lost', { isSealed: true })
    await store.write(everything)
    await store.close()
    await inPage(tab, 'deleteStore', 'sotto-keys')
    await expect(openIn(tab, 'lost', { isSealed: true })).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('the key of this device is gone'),
    })
    await alone.close()
  })
})

/** Waits until `writePairs` has written so many. */
async function untilPairsWritten(tab: Page, count: number): Promise<void> {
  await tab.waitForFunction((count) => Reflect.get(globalThis, 'countPairs')() >= count, count, {
    polling: 5,
  })
}

/** How many pairs there are; fails where there is half of one, or one without those before it. */
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

/** Ends the browser that has this profile, as a power cut would. */
async function kill(profile: string): Promise<void> {
  const all = await processesOf(profile)
  // The browser itself: its helpers say of what type they are, and end with it.
  const browser = all.find(({ command }) => !command.includes('--type='))
  if (!browser) throw new Error('no browser with this profile')
  process.kill(browser.pid, 'SIGKILL')
  // A helper that has not noticed yet may still have files open that the next browser wants.
  while ((await processesOf(profile)).length > 0) await Bun.sleep(10)
}

/** What runs with this profile on its command line. What has ended has none. */
async function processesOf(profile: string): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = pids.map(async (pid) => ({
    pid: Number(pid),
    command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
  }))
  return (await Promise.all(all)).filter(({ command }) => command.includes(profile))
}

/** Everything in the files of a folder and those in it. */
async function bytesOf(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Buffer.concat(await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name)))))
}
