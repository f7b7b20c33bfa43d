// A push in a real browser: what the relay encrypted arrives in a service worker’s `push` event as JSON. The push service
// between them is the tests’ own, so the last step is taken by DevTools, as the browser would take it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Browser, chromium } from 'playwright-core'
import { findChromium } from '../../../scripts/find-chromium.mjs'
import { startPushEndpoint } from './push-endpoint.ts'
import { settingsFor, sleeper, told } from './push-world.ts'
import { useRelay } from './use-relay.ts'

setDefaultTimeout(60_000)

const SERVICE_WORKER = `
self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))
self.addEventListener('push', (event) => {
  const pushed = event.data.json()
  const isKnown = Object.keys(pushed).join() === 'type' && pushed.type === 'new_msg'
  const title = isKnown ? 'New messages' : 'What is this?'
  event.waitUntil(show(title, { tag: pushed.type, data: pushed }))
})
async function show(title, options) {
  await self.registration.showNotification(title, options)
  for (const client of await self.clients.matchAll()) client.postMessage('shown')
}`

const service = await startPushEndpoint()
const relay = useRelay(settingsFor(service))
const app = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) =>
    url.endsWith('/worker.js')
      ? new Response(SERVICE_WORKER, { headers: { 'content-type': 'text/javascript' } })
      : new Response('<!doctype html><title>push</title>', { headers: { 'content-type': 'text/html' } }),
})
const origin = `http://127.0.0.1:${app.port}`
let browser: Browser

beforeAll(async () => {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium: npm test installs it, or set CHROMIUM to its path')
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args, headless: true })
})
afterAll(async () => {
  await browser?.close()
  await app.stop(true)
  await service.stop()
})

test('a service worker hears of new messages and shows a notification', async () => {
  const woken = await sleeper(relay.url, service)
  await woken.send()
  const [push] = await service.until(woken.path)
  const data = await told(woken, push)

  const context = await browser.newContext({ permissions: ['notifications'] })
  const page = await context.newPage()
  const devTools = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations
      if (first) resolve(first.registrationId)
    })
  })
  await devTools.send('ServiceWorker.enable')
  await page.goto(origin)
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/worker.js')
    await navigator.serviceWorker.ready
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
    const isShown = new Promise((resolve) => navigator.serviceWorker.addEventListener('message', resolve))
    Object.assign(globalThis, { isShown })
    navigator.serviceWorker.startMessages()
  })
  const registrationId = await registered
  await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
  const shown = await page.evaluate(async () => {
    // Chromium erases a notification that is asked for while it is being shown.
    await Reflect.get(globalThis, 'isShown')
    const notifications = await (await navigator.serviceWorker.ready).getNotifications()
    return notifications.map(({ title, tag, data }) => ({ title, tag, data }))
  })
  expect(shown).toEqual([{ title: 'New messages', tag: 'new_msg', data: { type: 'new_msg' } }])
  await context.close()
})
