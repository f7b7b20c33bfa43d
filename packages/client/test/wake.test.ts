// A page that is back, from sleep or without a network, does not wait for its next attempt to connect.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { startRelay } from '@sotto/relay/testing'
import { openTab, serveApp, startChromium } from './browser/chromium.ts'
import { until } from './people.ts'

setDefaultTimeout(60_000)

/** What wake-page.ts puts in its page. */
interface WakePage {
  join(relayUrl: string): Promise<void>
  attempts(): number
  readonly clock: { readonly waits: readonly number[]; advance(ms: number): Promise<void> }
  readonly client: { readonly networkState: string; close(): Promise<void> }
}

test('online and a page that becomes visible end the wait for the next attempt', async () => {
  const relay = await startRelay()
  const browser = await startChromium()
  const app = await serveApp(join(import.meta.dir, 'wake-page.ts'))
  const page = await openTab(await browser.newContext(), app)
  const attempts = () => page.evaluate(() => (globalThis as unknown as WakePage).attempts())
  const state = () => page.evaluate(() => (globalThis as unknown as WakePage).client.networkState)
  /** Whether it waits that long, but for the lot's last share. */
  const waits = async (ms: number) =>
    (await page.evaluate(() => (globalThis as unknown as WakePage).clock.waits)).includes(ms - 1)
  await page.evaluate((url) => (globalThis as unknown as WakePage).join(url), relay.url)
  await until('connected', async () => (await state()) === 'connected')

  await relay.kill('SIGKILL')
  let made = await attempts()
  for (const wake of [
    () => page.evaluate(() => globalThis.dispatchEvent(new Event('online'))),
    () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))),
  ]) {
    // The waits are a second, two and four, and again after each waking. The page's time stands still in the last of them.
    for (const waitMs of [1000, 2000]) {
      await until(`it waits ${waitMs} ms`, () => waits(waitMs))
      await page.evaluate((ms) => (globalThis as unknown as WakePage).clock.advance(ms), waitMs)
      made += 1
    }
    await until('it waits for long', () => waits(4000))
    expect(await attempts()).toBe(made)
    await wake()
    made += 1
    await until('it tries at once', async () => (await attempts()) === made)
  }

  await until('it waits again', () => waits(1000))
  await relay.start()
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  await until('connected again', async () => (await state()) === 'connected')
  // A closed client hears no more of it.
  await page.evaluate(() => (globalThis as unknown as WakePage).client.close())
  const last = await attempts()
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  await Bun.sleep(200)
  expect(await attempts()).toBe(last)
  await browser.close()
  await app.stop()
  await relay.stop()
})
