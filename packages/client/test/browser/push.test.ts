// Pushes in a real service worker, delivered by DevTools as the browser would deliver them.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { CDPSession, Page, Worker } from 'playwright-core'
import { until } from '../people.ts'
import { sharedChromium } from './shared-chromium.ts'

setDefaultTimeout(240_000)

let server: ReturnType<typeof Bun.serve>
let origin: string

beforeAll(async () => {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, '../push-worker-page.ts')],
    target: 'browser',
  })
  const worker = await built.outputs[0]?.text()
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('/worker.js')
        ? new Response(worker, { headers: { 'content-type': 'text/javascript' } })
        : new Response('<!doctype html><title>app</title>', { headers: { 'content-type': 'text/html' } }),
  })
  origin = `http://127.0.0.1:${server.port}`
})
afterAll(async () => {
  await server?.stop(true)
})

/** The globals of a service worker that the tests use or replace. */
interface WorkerGlobals {
  readonly clients: { openWindow(url: string): Promise<unknown> }
  readonly registration: {
    getNotifications(): Promise<Notification[]>
    showNotification(title: string, options?: NotificationOptions): Promise<void>
  }
  readonly WindowClient: { prototype: { focus(): Promise<unknown> } }
  readonly NotificationEvent: new (type: string, init: { notification: unknown }) => Event
  /** How many notifications have been shown completely. */
  shownCount: number
}

/** A page with a service worker that receives pushes. */
interface App {
  readonly page: Page
  readonly worker: Worker
  /** Delivers pushes at once, and waits until each has shown its notification. */
  push(...data: readonly string[]): Promise<void>
}

async function openApp(): Promise<App> {
  const context = await (await sharedChromium()).newContext({ permissions: ['notifications'] })
  const page = await context.newPage()
  const devTools: CDPSession = await context.newCDPSession(page)
  const registered = Promise.withResolvers<string>()
  devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
    if (first) registered.resolve(first.registrationId)
  })
  await devTools.send('ServiceWorker.enable')
  const [worker] = await Promise.all([context.waitForEvent('serviceworker'), register(page)])
  const registrationId = await registered.promise
  // Chromium erases a notification if the page lists notifications while it is being shown. So `push` waits
  // until every notification has been shown, and tests list them after that.
  await worker.evaluate(() => {
    const scope = globalThis as unknown as WorkerGlobals
    const show = scope.registration.showNotification.bind(scope.registration)
    scope.shownCount = 0
    scope.registration.showNotification = async (...notification) => {
      await show(...notification)
      scope.shownCount += 1
    }
  })
  const shownCount = () => worker.evaluate(() => (globalThis as unknown as WorkerGlobals).shownCount)
  return {
    ...{ page, worker },
    push: async (...pushed) => {
      const count = (await shownCount()) + pushed.length
      for (const data of pushed)
        await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
      await until('the notifications are shown', async () => (await shownCount()) === count)
    },
  }
}

async function register(page: Page): Promise<void> {
  await page.goto(origin)
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/worker.js')
    await navigator.serviceWorker.ready
  })
}

async function shown(page: Page) {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    const notifications = await registration.getNotifications()
    return notifications.map(({ title, body, tag }) => ({ title, body, tag }))
  })
}

test('a notification says whether it is for a message or a call, and nothing else', async () => {
  const { page, push } = await openApp()
  const message = { title: 'New messages', body: 'look here', tag: 'sotto-message' }
  await push('{"type":"new_msg"}')
  expect(await shown(page)).toEqual([message])
  await push('{"type":"call"}')
  expect((await shown(page)).map(({ title }) => title).sort()).toEqual(['New messages', 'Somebody calls'])
  // A second notification of the same kind replaces the first, and so does one for an unreadable push.
  await push('{"type":"new_msg"}', 'not even JSON')
  expect((await shown(page)).map(({ title }) => title).sort()).toEqual(['New messages', 'Somebody calls'])
  await page.context().close()
})

test('a click closes the notification and brings the app to the front', async () => {
  const { page, worker, push } = await openApp()
  await push('{"type":"new_msg"}')
  expect(await shown(page)).toHaveLength(1)
  await worker.evaluate(async () => {
    // A worker may open and focus pages only after a real click, which a headless browser cannot make.
    const asked: string[] = []
    const { clients, registration, WindowClient, NotificationEvent } = globalThis as unknown as WorkerGlobals
    WindowClient.prototype.focus = async () => asked.push('focus')
    clients.openWindow = async (url) => asked.push(url)
    Object.assign(globalThis, { asked })
    const [notification] = await registration.getNotifications()
    dispatchEvent(new NotificationEvent('notificationclick', { notification }))
  })
  const asked = () => worker.evaluate(() => Reflect.get(globalThis, 'asked'))
  await until('the worker opens or focuses a page', async () => (await asked()).length === 1)
  expect(await asked()).toEqual(['focus'])
  await until('the notification is closed', async () => (await shown(page)).length === 0)
  await page.context().close()
})

test('a click on a notification of a page leads to the address that it names', async () => {
  const { page, worker } = await openApp()
  const url = `${origin}/#/inbox/7`
  await page.evaluate(async (named) => {
    const heard: unknown[] = []
    Object.assign(globalThis, { heard })
    navigator.serviceWorker.addEventListener('message', ({ data }) => heard.push(data))
    navigator.serviceWorker.startMessages()
    const registration = await navigator.serviceWorker.ready
    await registration.showNotification('One message', { data: { url: named } })
  }, url)
  const click = () =>
    worker.evaluate(async () => {
      const asked: string[] = []
      const { clients, registration, WindowClient, NotificationEvent } =
        globalThis as unknown as WorkerGlobals
      WindowClient.prototype.focus = async () => asked.push('focus')
      clients.openWindow = async (opened) => asked.push(opened)
      Object.assign(globalThis, { asked })
      const [notification] = await registration.getNotifications()
      dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })
  const asked = () => worker.evaluate(() => Reflect.get(globalThis, 'asked'))
  await click()
  await until('the worker focuses the page', async () => (await asked()).length === 1)
  expect(await asked()).toEqual(['focus'])
  const heard = () => page.evaluate(() => Reflect.get(globalThis, 'heard'))
  await until('the page is told', async () => (await heard()).length === 1)
  expect(await heard()).toEqual([{ type: 'sotto-open', url }])
  await page.context().close()
})
