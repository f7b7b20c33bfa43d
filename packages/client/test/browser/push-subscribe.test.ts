// Subscribing to pushes in a real browser: the errors if notifications are not allowed, and if no push
// service can be reached.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { BrowserContext, Page } from 'playwright-core'
import { openTab, type ServedApp, serveApp, startChromiumWith } from './chromium.ts'

setDefaultTimeout(240_000)

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

/** Subscribes with this notification permission and returns the outcome. Waits are divided by `hurry`. */
async function subscribeWith(setting: 'granted' | 'denied', hurry: number): Promise<unknown> {
  const page: Page = await openTab(context, app)
  const devTools = await context.newCDPSession(page)
  const permission = { name: 'notifications' }
  await devTools.send('Browser.setPermission', { permission, setting, origin: app.url })
  await page.evaluate((relayUrl) => Reflect.get(globalThis, 'join')(relayUrl), relay.url)
  return page.evaluate((times) => Reflect.get(globalThis, 'subscribe')(times), hurry)
}

test('subscribing fails with one code if notifications are denied, and another if no push service is reached', async () => {
  expect(await subscribeWith('denied', 1)).toBe('NOT_ALLOWED')
  // Chromium keeps trying to reach its vendor's push service, and reports nothing meanwhile.
  expect(await subscribeWith('granted', 100)).toBe('UNSUPPORTED')
})
