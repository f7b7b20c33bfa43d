// A page that wakes from sleep or gets its network back connects at once, before the next attempt is due.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { startRelay } from '@sotto/relay/testing'
import { openTab, serveApp } from './browser/chromium.ts'
import { sharedChromium } from './browser/shared-chromium.ts'
import { until } from './people.ts'

setDefaultTimeout(240_000)

/** The globals that wake-page.ts defines. */
interface WakePage {
  join(relayUrl: string): Promise<void>
  attempts(): number
  readonly clock: { readonly waits: readonly number[]; advance(ms: number): Promise<void> }
  readonly client: { readonly networkState: string; disconnect(): void }
}

test('a page that comes online or becomes visible ends the wait for the next connection attempt', async () => {
  const relay = await startRelay()
  const context = await (await sharedChromium()).newContext()
  const app = await serveApp(join(import.meta.dir, 'wake-page.ts'))
  const page = await openTab(context, app)
  const attempts = () => page.evaluate(() => (globalThis as unknown as WakePage).attempts())
  const state = () => page.evaluate(() => (globalThis as unknown as WakePage).client.networkState)
  /** Whether a wait of this length is pending. It is 1 ms shorter: its random share is a little under 1. */
  const waits = async (ms: number) =>
    (await page.evaluate(() => (globalThis as unknown as WakePage).clock.waits)).includes(ms - 1)
  await page.evaluate((url) => (globalThis as unknown as WakePage).join(url), relay.url)
  await until('the client is connected', async () => (await state()) === 'connected')

  await relay.kill('SIGKILL')
  let expected = await attempts()
  for (const wake of [
    () => page.evaluate(() => globalThis.dispatchEvent(new Event('online'))),
    () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))),
  ]) {
    // The waits are 1, 2 and 4 seconds, and start at 1 second again after each wake-up. The page's clock
    // stands still during the wait of 4 seconds.
    for (const waitMs of [1000, 2000]) {
      await until(`the client waits ${waitMs} ms`, () => waits(waitMs))
      await page.evaluate((ms) => (globalThis as unknown as WakePage).clock.advance(ms), waitMs)
      expected += 1
    }
    await until('the client waits 4000 ms', () => waits(4000))
    expect(await attempts()).toBe(expected)
    await wake()
    expected += 1
    await until('the client connects at once', async () => (await attempts()) === expected)
  }

  await until('the client waits 1000 ms again', () => waits(1000))
  await relay.start()
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  await until('the client is connected again', async () => (await state()) === 'connected')
  // A disconnected client ignores these events.
  await page.evaluate(() => (globalThis as unknown as WakePage).client.disconnect())
  const last = await attempts()
  await page.evaluate(async () => {
    const { clock } = globalThis as unknown as WakePage
    // Older than an attempt that could still succeed.
    await clock.advance(10_000)
    globalThis.dispatchEvent(new Event('online'))
    await clock.advance(0)
  })
  expect(await attempts()).toBe(last)
  await context.close()
  await app.stop()
  await relay.stop()
})
