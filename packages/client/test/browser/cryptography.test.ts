// The cryptographic constructions in a browser, with both implementations of their primitives: each computes
// the project's vectors.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { INSECURE_HOST, openTab, type ServedApp, serveApp } from './chromium.ts'
import type { Findings } from './cryptography-app.ts'
import { sharedChromium } from './shared-chromium.ts'

setDefaultTimeout(240_000)

declare const findings: () => Promise<Findings>

let app: ServedApp
beforeAll(async () => {
  app = await serveApp(join(import.meta.dir, 'cryptography-app.ts'))
})
afterAll(async () => {
  await app?.stop()
})

for (const { where, host, implementation } of [
  { where: 'a secure context', host: '127.0.0.1', implementation: 'web' },
  { where: 'an insecure context', host: INSECURE_HOST, implementation: 'noble' },
]) {
  test(`in ${where}, the implementation ${implementation} computes the vectors`, async () => {
    const context = await (await sharedChromium()).newContext()
    const page = await openTab(context, { ...app, url: app.url.replace('127.0.0.1', host) })
    const found = await page.evaluate(() => findings())
    expect(found.implementation).toBe(implementation)
    expect(found.values.length).toBeGreaterThan(20)
    for (const { name, is, shouldBe } of found.values) expect({ [name]: is }).toEqual({ [name]: shouldBe })
    await context.close()
  })
}
