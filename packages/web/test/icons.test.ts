// The PNG icons look like the SVG that they are drawn from.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { drawIcons, ICONS } from './icons.ts'
import { differenceOf } from './parts/pictures.ts'

setDefaultTimeout(240_000)

test('every PNG icon is drawn from its SVG', async () => {
  const browser = await sharedChromium()
  const drawn = await drawIcons(browser)
  const stored = (await readdir(ICONS)).filter((file) => file.endsWith('.png'))
  // If an SVG has changed: `npm run app-screenshots -- icons` draws the PNG again.
  expect(stored.toSorted()).toEqual([...drawn.keys()].toSorted())
  const context = await browser.newContext()
  const page = await context.newPage()
  for (const [name, picture] of drawn) {
    const file = Buffer.from(await Bun.file(join(ICONS, name)).arrayBuffer())
    expect([name, await differenceOf(page, file, picture)]).toEqual([name, undefined])
  }
  await context.close()
})
