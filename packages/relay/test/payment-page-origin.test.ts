// The payment page is served at the address of the web app, and must not reach what the app stores there.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { PaymentWorld } from './payment-page-world.ts'

setDefaultTimeout(240_000)
let world: PaymentWorld
beforeAll(async () => {
  world = await PaymentWorld.start()
})
afterAll(() => world?.stop())

test('the page’s script reaches nothing that the web app keeps at the same address', async () => {
  const context = await (await sharedChromium()).newContext()
  const page = await context.newPage()
  await page.goto(world.pageOf(world.place()))
  const reached = await page.evaluate(async () => {
    const attempts: Record<string, () => unknown> = {
      localStorage: () => localStorage.length,
      indexedDB: () =>
        new Promise((resolve, reject) => {
          const request = indexedDB.open('sotto')
          request.onsuccess = resolve
          request.onerror = () => reject(request.error)
        }),
      caches: () => caches.keys(),
      locks: () => navigator.locks.query(),
      serviceWorker: () => navigator.serviceWorker.getRegistrations(),
      cookie: () => document.cookie,
    }
    const names: string[] = [`origin ${self.origin}`]
    for (const [name, attempt] of Object.entries(attempts)) {
      try {
        await attempt()
        names.push(name)
      } catch {
        // Refused, as it should be.
      }
    }
    return names
  })
  await context.close()
  expect(reached).toEqual(['origin null'])
})
