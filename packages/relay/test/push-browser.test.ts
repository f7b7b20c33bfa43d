// A push in a real browser: the relay's encrypted push arrives in a service worker’s `push` event as JSON.
// The push service between them is part of the test, so DevTools delivers the push to the worker, as the
// browser would.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { startPushEndpoint } from './push-endpoint.ts'
import { settingsFor, sleeper, textOf } from './push-world.ts'
import { useRelay } from './use-relay.ts'

setDefaultTimeout(240_000)

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

afterAll(async () => {
  await app.stop(true)
  await service.stop()
})

test('a service worker receives the push for new messages and shows a notification', async () => {
  const woken = await sleeper(relay.url, service)
  await woken.send()
  const [push] = await service.until(woken.path)
  const data = await textOf(woken, push)

  const context = await (await sharedChromium()).newContext({ permissions: ['notifications'] })
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
    // Chromium removes a notification if getNotifications() runs while it is being shown.
    await Reflect.get(globalThis, 'isShown')
    const notifications = await (await navigator.serviceWorker.ready).getNotifications()
    return notifications.map(({ title, tag, data }) => ({ title, tag, data }))
  })
  expect(shown).toEqual([{ title: 'New messages', tag: 'new_msg', data: { type: 'new_msg' } }])
  await context.close()
})
