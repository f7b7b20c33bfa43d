// What the app loads before the first message stays small, and is loaded again if it could not be.
import { expect, test } from 'bun:test'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { AppPerson } from './app-person.ts'
import { firstLoad } from './first-load.ts'
import { AppWorld } from './world.ts'

/** Bytes after gzip, for all scripts, styles, pages and pictures of the app. */
const BUDGET = 120_000

const world = new AppWorld()

test('what the app loads before the first message stays within its budget', async () => {
  const { files, complaints } = await firstLoad(await sharedChromium(), world.relay.url)
  const gzip = files.reduce((sum, file) => sum + file.gzip, 0)
  const brotli = files.reduce((sum, file) => sum + file.brotli, 0)
  const list = files.map((file) => `${String(file.gzip).padStart(8)}  ${file.path}`).join('\n')
  const message = `${gzip} bytes gzip, ${brotli} bytes Brotli:\n${list}`
  expect(gzip, message).toBeLessThanOrEqual(BUDGET)
  expect(complaints).toEqual([])
})

test('a part that could not be loaded is loaded by another try', async () => {
  const browser = await sharedChromium()
  // A service worker would have the part already.
  const context = await browser.newContext({ ...AppPerson.settings({}), serviceWorkers: 'block' })
  const alice = new AppPerson('Alice', context, world.relay.url)
  alice.expects(/net::ERR_FAILED|ServiceWorker/)
  await context.route('**/assets/recover-form-*.js', (route) => route.abort())
  await alice.comes()
  await alice.presses(alice.t.welcome.recover)
  await alice.reads(alice.t.errors.codes.NETWORK ?? '')
  await context.unrouteAll()
  await alice.presses(alice.t.common.tryAgain)
  await alice.presses(alice.t.welcome.recover)
  await alice.page.getByLabel(alice.t.welcome.phraseLabel).waitFor()
  await context.close()
  expect(alice.complaints).toEqual([])
})
