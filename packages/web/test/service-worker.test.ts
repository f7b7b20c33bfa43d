// The app's service worker: what it keeps, what it leaves to the server, and what its notifications say.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { until } from '../../client/test/people.ts'
import { ar } from '../src/texts/ar/ar.ts'
import { builtApp } from './built-app.ts'

setDefaultTimeout(240_000)

/** The policy that the server sends with the page. */
let policy = ''
/** A file that the server sends wrongly. */
let broken = ''
const asked: string[] = []
const contexts: BrowserContext[] = []
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  const folder = builtApp()
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      const file = Bun.file(join(folder, pathname === '/' ? 'index.html' : pathname))
      if (pathname === '/pay/token') return new Response('the payment page')
      if (!(await file.exists())) return new Response('', { status: 404 })
      const headers = { 'cache-control': 'no-cache', 'content-security-policy': policy }
      return broken !== '' && pathname.startsWith(broken)
        ? new Response('of another version', { headers: { 'content-type': file.type } })
        : new Response(file, { headers })
    },
  })
})
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close()
})
afterAll(() => server.stop(true))

function url(): string {
  return `http://127.0.0.1:${server.port}/`
}

async function newPage(locale = 'en-US'): Promise<Page> {
  const context = await (await sharedChromium()).newContext({ locale, permissions: ['notifications'] })
  contexts.push(context)
  return context.newPage()
}

async function open(locale?: string): Promise<Page> {
  const page = await newPage(locale)
  await page.goto(url())
  return page
}

async function kept(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated')
}

test('the app comes from the device; other pages and programs’ requests go to the server', async () => {
  const page = await open()
  await kept(page)
  asked.length = 0
  await page.reload()
  await page.getByRole('textbox').waitFor() // It asks for the relay.
  expect(asked.filter((path) => path.startsWith('/assets/'))).toEqual([])
  await page.goto(`${url()}pay/token`)
  expect(await page.textContent('body')).toBe('the payment page')
})

test('new headers of the page are there at the next visit but one', async () => {
  policy = "frame-ancestors 'none'"
  const page = await open()
  await kept(page)
  policy = "frame-ancestors 'self'"
  await page.reload()
  await until('they are kept', () =>
    page.evaluate(async () => {
      const stored = await caches.match('./')
      return stored?.headers.get('content-security-policy') === "frame-ancestors 'self'"
    }),
  )
  const answer = await page.reload()
  expect(answer?.headers()['content-security-policy']).toBe("frame-ancestors 'self'")
})

test('a server with a file of another version installs nothing', async () => {
  broken = '/assets/ar-'
  const page = await newPage()
  const devTools = await page.context().newCDPSession(page)
  const ended = Promise.withResolvers<void>()
  devTools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    if (versions.some(({ status }) => status === 'redundant')) ended.resolve()
  })
  await devTools.send('ServiceWorker.enable')
  await page.goto(url())
  await ended.promise
  broken = ''
  const isActive = await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration()
    return (registration?.active ?? null) !== null
  })
  expect(isActive).toBe(false)
})

test('notifications are in the app’s language, and say only that something has come', async () => {
  const page = await open('ar-EG')
  await kept(page)
  await until('the words are kept', () =>
    page.evaluate(async () => (await caches.match('push-words', { cacheName: 'sotto-words' })) !== undefined),
  )
  const devTools = await page.context().newCDPSession(page)
  const registered = Promise.withResolvers<string>()
  devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
    if (first) registered.resolve(first.registrationId)
  })
  await devTools.send('ServiceWorker.enable')
  const registrationId = await registered.promise
  const [worker] = page.context().serviceWorkers()
  // Chromium erases a notification that is listed while it is being shown, so none is listed.
  await worker?.evaluate(() => {
    const registration: ServiceWorkerRegistration = Reflect.get(globalThis, 'registration')
    const show = registration.showNotification.bind(registration)
    const result = Promise.withResolvers<string>()
    registration.showNotification = async (title, options) => {
      await show(title, options)
      result.resolve(title)
    }
    Object.assign(globalThis, { shown: result.promise })
  })
  const origin = new URL(url()).origin
  await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: '{"type":"call"}' })
  expect(await worker?.evaluate(() => Reflect.get(globalThis, 'shown'))).toBe(ar.updates.pushed.call)
})
