// The app's icons as PNG, for systems that take no SVG: drawn from the SVG beside them.
import { join } from 'node:path'
import type { Browser } from 'playwright-core'

/** Where the icons are. */
export const ICONS = join(import.meta.dir, '../public/icons')

/** What each PNG is drawn from, and its width and height in pixels. */
const DRAWN = {
  'badge.png': ['badge.svg', 96],
  'maskable-192.png': ['maskable.svg', 192],
  'maskable-512.png': ['maskable.svg', 512],
  'sotto-192.png': ['sotto.svg', 192],
  'sotto-512.png': ['sotto.svg', 512],
} as const

/** Draws every PNG. Names them by their files. */
export async function drawIcons(browser: Browser): Promise<ReadonlyMap<string, Buffer>> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const drawn = new Map<string, Buffer>()
  for (const [name, [source, size]] of Object.entries(DRAWN)) {
    const svg = Buffer.from(await Bun.file(join(ICONS, source)).arrayBuffer()).toString('base64')
    await page.setViewportSize({ width: size, height: size })
    await page.setContent(
      `<img src="data:image/svg+xml;base64,${svg}" width="${size}" height="${size}" style="position:fixed;inset:0">`,
    )
    await page.locator('img').evaluate(async (image) => {
      if (image instanceof HTMLImageElement) await image.decode()
    })
    drawn.set(name, await page.screenshot({ omitBackground: true }))
  }
  await context.close()
  return drawn
}
