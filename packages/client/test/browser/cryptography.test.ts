// The constructions in a browser, on both implementations of what they stand on: the project's vectors come out of each.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { INSECURE_HOST, openTab, type ServedApp, serveApp, startChromium } from './chromium.ts'
import type { Findings } from './cryptography-app.ts'

setDefaultTimeout(60_000)

declare const findings: () => Promise<Findings>

let browser: Browser
let app: ServedApp
beforeAll(async () => {
  browser = await startChromium()
  app = await serveApp(join(import.meta.dir, 'cryptography-app.ts'))
})
afterAll(async () => {
  await browser?.close()
  await app?.stop()
})

for (const { where, host, implementation } of [
  { where: 'a secure context', host: '127.0.0.1', implementation: 'web' },
  { where: 'no secure context', host: INSECURE_HOST, implementation: 'noble' },
]) {
  test(`in ${where} the vectors come out of ${implementation}`, async () => {
    const context = await browser.newContext()
    const page = await openTab(context, { ...app, url: app.url.replace('127.0.0.1', host) })
    const found = await page.evaluate(() => findings())
    expect(found.implementation).toBe(implementation)
    expect(found.values.length).toBeGreaterThan(20)
    for (const { name, is, shouldBe } of found.values) expect({ [name]: is }).toEqual({ [name]: shouldBe })
    await context.close()
  })
}
