// Secret states in a real browser: their key is in a file that is overwritten in place, and nothing of former
// keys stays in the browser's profile.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { openTab, type ServedApp, serveApp, startChromiumWith } from './chromium.ts'
import { bytesOf, killBrowser } from './profile.ts'
import type { SecretsPage } from './secrets-app.ts'
import { sharedChromium } from './shared-chromium.ts'

const LIMIT_MS = 120_000
const APP = join(import.meta.dir, 'secrets-app.ts')
const WORKER = join(import.meta.dir, '../../src/stores/erasure-worker.ts')

let app: ServedApp
beforeAll(async () => {
  app = await serveApp(APP, WORKER)
}, LIMIT_MS)
afterAll(() => app.stop())

type Call = Exclude<keyof SecretsPage, 'isReady'>

/** Calls a function of the page. */
async function inTab<N extends Call>(
  tab: Page,
  name: N,
  ...args: Parameters<SecretsPage[N]>
): Promise<Awaited<ReturnType<SecretsPage[N]>>> {
  return tab.evaluate(({ name, args }) => Reflect.apply(Reflect.get(globalThis, name), undefined, args), {
    name,
    args: [...args],
  })
}

async function inContext(run: (context: BrowserContext) => Promise<void>): Promise<void> {
  const context = await (await sharedChromium()).newContext()
  try {
    await run(context)
  } finally {
    await context.close()
  }
}

/** A fresh profile of a browser, removed at the end. */
async function withProfile(run: (profile: string) => Promise<void>): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'sotto-profile-'))
  try {
    await run(profile)
  } finally {
    await rm(profile, { recursive: true, force: true })
  }
}

test(
  'no former key is in the profile of a browser that was closed and opened again, and the present one is',
  () =>
    withProfile(async (profile) => {
      const first = await startChromiumWith(profile)
      const tab = await openTab(first, app)
      expect(await inTab(tab, 'openSecrets', 'kept')).toBe('new opfs')
      for (let at = 1; at <= 20; at += 1) await inTab(tab, 'writeSecret', 'kept', 'a', `${at}`, at % 2 === 0)
      await inTab(tab, 'writeSecret', 'kept', 'b', 'other', false)
      await inTab(tab, 'closeSecrets', 'kept')
      const keys = await inTab(tab, 'keys')
      await first.close()
      const second = await startChromiumWith(profile)
      const again = await openTab(second, app)
      expect(await inTab(again, 'openSecrets', 'kept')).toBe('opened opfs')
      expect(await inTab(again, 'readSecret', 'kept', 'a')).toBe('20')
      expect(await inTab(again, 'readSecret', 'kept', 'b')).toBe('other')
      await inTab(again, 'closeSecrets', 'kept')
      await second.close()
      const bytes = await bytesOf(profile)
      const present = keys.filter((hex) => {
        const key = Buffer.from(hex, 'hex')
        return [key, hex, key.toString('base64')].some((form) => bytes.includes(form))
      })
      expect(keys.length).toBeGreaterThan(20)
      // The erasure key of the last rotation, and no other.
      expect(present).toEqual([keys.at(-1) ?? ''])
    }),
  LIMIT_MS,
)

test(
  'a browser that is killed in the middle of rotations loses nothing',
  () =>
    withProfile(async (profile) => {
      let written = 0
      for (let round = 0; round < 2; round += 1) {
        const killed = await startChromiumWith(profile)
        const tab = await openTab(killed, app)
        expect(await inTab(tab, 'openSecrets', 'kept')).toBe(round === 0 ? 'new opfs' : 'opened opfs')
        await inTab(tab, 'writeOn', 'kept')
        await tab.waitForFunction((least) => Reflect.get(globalThis, 'lastWritten')() >= least, 5 + round, {
          polling: 5,
        })
        written = await inTab(tab, 'lastWritten')
        await killBrowser(profile)
      }
      const after = await startChromiumWith(profile)
      const tab = await openTab(after, app)
      expect(await inTab(tab, 'openSecrets', 'kept')).toBe('opened opfs')
      expect(Number(await inTab(tab, 'readSecret', 'kept', 'a'))).toBeGreaterThanOrEqual(written)
      await inTab(tab, 'closeSecrets', 'kept')
      await after.close()
    }),
  LIMIT_MS,
)

test(
  'a tab that takes over waits for the file of a dying tab, but not for ever for one that lives on',
  () =>
    inContext(async (context) => {
      const [dying, next] = [await openTab(context, app), await openTab(context, app)]
      await inTab(dying, 'openSecrets', 'shared')
      await inTab(dying, 'writeSecret', 'shared', 'a', 'state', false)
      await inTab(dying, 'writeSecret', 'shared', 'a', 'later', false)
      await inTab(dying, 'holdFile', 'sotto-erasure-shared')
      expect(await inTab(next, 'openSecrets', 'shared')).toBe('STORE_LOCKED')
      const opening = inTab(next, 'openSecrets', 'shared')
      await dying.close()
      expect(await opening).toBe('opened opfs')
      expect(await inTab(next, 'readSecret', 'shared', 'a')).toBe('later')
    }),
  LIMIT_MS,
)

test(
  'without files the key is in rows, the page says so, and it stays there when there are files',
  () =>
    inContext(async (context) => {
      const tab = await context.newPage()
      await tab.addInitScript(() => {
        Reflect.deleteProperty(StorageManager.prototype, 'getDirectory')
      })
      await tab.goto(app.url)
      await tab.waitForFunction(() => 'isReady' in globalThis)
      expect(await inTab(tab, 'openSecrets', 'rows')).toBe('new rows')
      await inTab(tab, 'writeSecret', 'rows', 'a', 'state', true)
      await inTab(tab, 'closeSecrets', 'rows')
      const other = await openTab(context, app)
      expect(await inTab(other, 'openSecrets', 'rows')).toBe('opened rows')
      expect(await inTab(other, 'readSecret', 'rows', 'a')).toBe('state')
      await inTab(other, 'closeSecrets', 'rows')
      // A key in a file is not lost because a page has no files for once.
      await inTab(other, 'openSecrets', 'files')
      await inTab(other, 'writeSecret', 'files', 'a', 'state', true)
      await inTab(other, 'closeSecrets', 'files')
      expect(await inTab(tab, 'openSecrets', 'files')).toBe('STORE_FAILED')
      expect(await inTab(other, 'openSecrets', 'files')).toBe('opened opfs')
    }),
  LIMIT_MS,
)

test(
  'a deleted store leaves no file, and a worker that is not served is an error',
  () =>
    inContext(async (context) => {
      const tab = await openTab(context, app)
      await inTab(tab, 'openSecrets', 'deleted')
      await inTab(tab, 'writeSecret', 'deleted', 'a', 'state', true)
      await inTab(tab, 'closeSecrets', 'deleted')
      expect(await inTab(tab, 'files')).toEqual(['sotto-erasure-deleted'])
      await inTab(tab, 'deleteStore', 'deleted')
      expect(await inTab(tab, 'files')).toEqual([])
      const without = await serveApp(APP)
      expect(await inTab(await openTab(context, without), 'openSecrets', 'no worker')).toBe('UNSUPPORTED')
      await without.stop()
    }),
  LIMIT_MS,
)
