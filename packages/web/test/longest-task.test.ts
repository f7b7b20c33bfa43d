// That what a page computes counts as its longest task, and what the browser does for its driver does not.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startChromium } from '../../client/test/browser/chromium.ts'
import { longestTask } from './longest-task.ts'

setDefaultTimeout(240_000)

const BUSY_MS = 2000

test('a script counts, also one that runs in the end of a long answer; the decoding for the driver does not', async () => {
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === '/long'
        ? new Response('n'.repeat(15_000_000))
        : new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
  })
  const browser = await startChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${server.port}/`)
    const busy = await longestTask(page, () =>
      page.evaluate(async (busyMs) => {
        const reader = (await fetch('/long')).body?.getReader()
        while (reader && !(await reader.read()).done);
        const until = performance.now() + busyMs
        while (performance.now() < until);
      }, BUSY_MS),
    )
    // The processor of a busy machine gives a script less than the clock says.
    expect(busy).toBeGreaterThan(BUSY_MS / 4)
    // The driver's decoding takes 150 to 280 ms. Only what reads the answer counts.
    const reading = await longestTask(page, () =>
      page.evaluate(async () => {
        const reader = (await fetch('/long')).body?.getReader()
        while (reader && !(await reader.read()).done) continue
      }),
    )
    expect(reading).toBeLessThan(BUSY_MS / 16)
  } finally {
    await browser.close()
  }
})
