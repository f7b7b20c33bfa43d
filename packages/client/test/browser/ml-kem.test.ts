// ML-KEM-768 in Chromium: its own where the page has WebCrypto, which equals noble's, and otherwise noble's.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { XWingVector } from '../../../mls/test/compute-x-wing.ts'
import { readVectors } from '../../../mls/test/vectors.ts'
import { INSECURE_HOST, openTab, type ServedApp, serveApp } from './chromium.ts'
import type { MlKemFindings } from './ml-kem-app.ts'
import { sharedChromium } from './shared-chromium.ts'

setDefaultTimeout(240_000)

declare const mlKemFindings: (vectors: readonly XWingVector[]) => Promise<MlKemFindings>
declare const compareWithNoble: (rounds: number) => Promise<void>

const ROUNDS = 100

let app: ServedApp
beforeAll(async () => {
  app = await serveApp(join(import.meta.dir, 'ml-kem-app.ts'))
})
afterAll(async () => {
  await app?.stop()
})

test("a page takes Chromium's ML-KEM, and noble's agrees with it on random inputs", async () => {
  await inPage('127.0.0.1', async (page) => {
    await page.evaluate((rounds) => compareWithNoble(rounds), ROUNDS)
    const { implementation, asked } = await expectXWing(page)
    expect(implementation).toBe('web')
    // In every round Chromium itself has sent once, and opened both ciphertexts and both altered ones.
    expect(asked.encapsulateBits).toBeGreaterThanOrEqual(ROUNDS)
    expect(asked.decapsulateBits).toBeGreaterThanOrEqual(4 * ROUNDS)
  })
})

test("a page without WebCrypto takes noble's ML-KEM", async () => {
  await inPage(INSECURE_HOST, async (page) => {
    const { implementation, asked } = await expectXWing(page)
    expect(implementation).toBe('noble')
    expect(asked).toEqual({ encapsulateBits: 0, decapsulateBits: 0 })
  })
})

/** Opens the app from a host, in a context of its own. */
async function inPage(host: string, story: (page: Page) => Promise<void>): Promise<void> {
  const context = await (await sharedChromium()).newContext()
  await story(await openTab(context, { ...app, url: app.url.replace('127.0.0.1', host) }))
  await context.close()
}

/** Expects that the page computes X-Wing's vectors, and gives what it found. */
async function expectXWing(page: Page): Promise<MlKemFindings> {
  const vectors = await readVectors<XWingVector[]>('x-wing')
  const found = await page.evaluate((given) => mlKemFindings(given), vectors)
  expect(found.xWing).toEqual(vectors.map(({ pk, ss }) => ({ pk, ss })))
  return found
}
