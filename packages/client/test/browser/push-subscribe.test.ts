// Subscribing in a real browser: what it says where notifications are not allowed, and where no push service is in reach.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { BrowserContext, Page } from 'playwright-core'
import { openTab, type ServedApp, serveApp, startChromiumWith } from './chromium.ts'

setDefaultTimeout(60_000)

let profile: string
let context: BrowserContext
let relay: RelayProcess
let app: ServedApp

beforeAll(async () => {
  profile = await mkdtemp(join(tmpdir(), 'sotto-push-profile-'))
  const files = ['push-page.ts', 'push-worker-page.ts'].map((name) => join(import.meta.dir, '..', name))
  const [entry = '', worker = ''] = files
  relay = await startRelay()
  app = await serveApp(entry, worker)
  context = await startChromiumWith(profile)
})
afterAll(async () => {
  await context?.close()
  await app?.stop()
  await relay?.stop()
  await rm(profile, { recursive: true, force: true })
})

/** What subscribing comes to where the user has said this of notifications, waiting so many times as short as it does. */
async function subscribeWhere(setting: 'granted' | 'denied', hurry: number): Promise<unknown> {
  const page: Page = await openTab(context, app)
  const devTools = await context.newCDPSession(page)
  const permission = { name: 'notifications' }
  await devTools.send('Browser.setPermission', { permission, setting, origin: app.url })
  await page.evaluate((relayUrl) => Reflect.get(globalThis, 'join')(relayUrl), relay.url)
  return page.evaluate((times) => Reflect.get(globalThis, 'subscribe')(times), hurry)
}

test('a user who does not allow notifications is told apart from a browser that reaches no push service', async () => {
  expect(await subscribeWhere('denied', 1)).toBe('NOT_ALLOWED')
  // Chromium goes on trying to reach its maker's push service, and says nothing meanwhile.
  expect(await subscribeWhere('granted', 10)).toBe('UNSUPPORTED')
})
