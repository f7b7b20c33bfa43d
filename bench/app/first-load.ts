// How much a new user's browser loads until the first message is sent.
import { startChromium } from '../../packages/client/test/browser/chromium.ts'
import { firstLoad } from '../../packages/web/test/first-load.ts'
import type { Figure } from './figures.ts'

/**
 * Counts the app's files that are loaded until a new user has sent a message, each compressed by gzip. What
 * the service worker keeps for later is not counted.
 */
export async function measureFirstLoad(url: string): Promise<Figure> {
  const browser = await startChromium()
  const { files } = await firstLoad(browser, url)
  await browser.close()
  const bytes = files.reduce((sum, { gzip }) => sum + gzip, 0)
  return { name: 'loaded before the first message', unit: 'kB', target: 120, runs: [{ value: bytes / 1000 }] }
}
