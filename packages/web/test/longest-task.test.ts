// That what a page computes counts as its longest task, and what the browser does for its driver does not.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startChromium } from '../../client/test/browser/chromium.ts'
import { longestTask } from './longest-task.ts'

setDefaultTimeout(240_000)

/** Steps of a loop. They take a processor 1 to 2 s. */
const STEPS = 400_000_000
/** The driver's decoding takes 150 to 280 ms. Only what reads the answer counts. */
const READING_MS = 125

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
      page
        .evaluate(async (steps) => {
          const reader = (await fetch('/long')).body?.getReader()
          while (reader && !(await reader.read()).done);
          let sum = 0
          for (let step = 0; step < steps; step++) sum = (sum + step) | 0
          return sum
        }, STEPS)
        .then(() => {}),
    )
    console.log('B', busy)
    expect(busy).toBeGreaterThan(4 * READING_MS)
    const reading = await longestTask(page, () =>
      page.evaluate(async () => {
        const reader = (await fetch('/long')).body?.getReader()
        while (reader && !(await reader.read()).done);
      }),
    )
    expect(reading).toBeLessThan(READING_MS)
  } finally {
    await browser.close()
  }
})
