// Pictures of the page of parts, and how they are compared with those that are stored beside this file.
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { layerOrder } from '../../../../scripts/web-app/layer-order.ts'
import { makeProcessFolder } from '../../../client/test/process-folder.ts'
import { serveFolder } from '../built-app.ts'

/** Where the stored pictures are. */
export const PICTURES = join(import.meta.dir, 'pictures')

const WEB = join(import.meta.dir, '../..')

/** The fonts of the stored pictures: which ones a machine prefers is not known. */
const FONTS = `
  html { font-family: "Noto Sans", "Noto Sans Arabic", "Noto Color Emoji" !important }
  .code { font-family: "Noto Sans" !important }`

/** Takes a picture of each group of parts and each dialog, in both themes and directions. Names them. */
export async function photographParts(browser: Browser): Promise<ReadonlyMap<string, Buffer>> {
  const server = serveFolder(await buildParts())
  const context = await browser.newContext({
    viewport: { width: 800, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-US',
  })
  const pictures = new Map<string, Buffer>()
  try {
    for (const [theme, language] of [
      ['light', 'en'],
      ['dark', 'ar'],
    ] as const) {
      const page = await context.newPage()
      const open = async (dialog: string): Promise<void> => {
        const query = new URLSearchParams({ theme, language, dialog })
        await page.goto(`${server.url}/test/parts/parts.html?${query}`)
        await page.addStyleTag({ content: FONTS })
        // The last part to be shown, because it waits until loading has taken long enough to be noticed.
        await page.locator('.state .spinner').waitFor()
        await page.locator('.icon path:not([d])').first().waitFor({ state: 'detached' })
        await page.evaluate(() => document.fonts.ready)
      }
      const keep = async (name: string, selector: string): Promise<void> => {
        const picture = await page.locator(selector).screenshot({ animations: 'disabled', caret: 'hide' })
        pictures.set(`${name}-${theme}-${language}`, picture)
      }
      for (const dialog of ['dialog', 'confirm']) {
        await open(dialog)
        await keep(dialog, 'dialog')
      }
      await open('')
      // The notices lie above the page.
      const show = (selector: string, visibility: string): Promise<void> =>
        page.locator(selector).evaluate((element, value) => {
          if (element instanceof HTMLElement) element.style.visibility = value
        }, visibility)
      await show('.notices', 'hidden')
      for (const group of await page.locator('.parts > section').all()) {
        const name = (await group.getAttribute('aria-label')) ?? ''
        await keep(name.toLowerCase().replaceAll(' ', '-'), `.parts > section[aria-label="${name}"]`)
      }
      await show('.parts', 'hidden')
      await show('.notices', 'visible')
      await keep('notices', '.notices')
      await page.close()
    }
  } finally {
    await context.close()
    await server.stop()
  }
  return pictures
}

async function buildParts(): Promise<string> {
  const outDir = join(await makeProcessFolder('parts'), 'dist')
  await build({
    configFile: false,
    root: WEB,
    base: './',
    publicDir: false,
    logLevel: 'warn',
    plugins: [layerOrder],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      rolldownOptions: { input: join(import.meta.dir, 'parts.html') },
    },
  })
  return outDir
}

/**
 * Compares two pictures square by square, so that the edges of letters may differ by what another version of
 * Chromium draws, and a part that is elsewhere, has another colour or is missing may not.
 * @returns where they differ, or undefined
 */
export function differenceOf(page: Page, stored: Buffer, taken: Buffer): Promise<string | undefined> {
  const urls = [stored, taken].map((png) => `data:image/png;base64,${png.toString('base64')}`)
  return page.evaluate(async (urls) => {
    /** The side of a square, in pixels. */
    const SIDE = 8
    /** How much the mean of a square may differ, of 255: where nothing is drawn, and where something is. */
    const [PLAIN, DRAWN] = [4, 24]
    const [a, b] = await Promise.all(
      urls.map(async (url) => {
        const image = new Image()
        image.src = url
        await image.decode()
        const { width, height } = image
        const context = new OffscreenCanvas(width, height).getContext('2d')
        if (!context) throw new Error('this browser cannot draw')
        context.drawImage(image, 0, 0)
        return { width, height, data: context.getImageData(0, 0, width, height).data }
      }),
    )
    if (!a || !b) throw new Error('two pictures are needed')
    if (a.width !== b.width || Math.abs(a.height - b.height) > 1)
      return `is ${b.width} × ${b.height} pixels, not ${a.width} × ${a.height}`
    const height = Math.min(a.height, b.height)
    for (let y = 0; y + SIDE <= height; y += SIDE)
      for (let x = 0; x + SIDE <= a.width; x += SIDE)
        for (let channel = 0; channel < 3; channel++) {
          let [sum, low, high] = [0, 255, 0]
          for (let row = y; row < y + SIDE; row++)
            for (let column = x; column < x + SIDE; column++) {
              const at = (row * a.width + column) * 4 + channel
              const [one = 0, other = 0] = [a.data[at], b.data[at]]
              sum += one - other
              low = Math.min(low, one, other)
              high = Math.max(high, one, other)
            }
          const mean = Math.abs(sum) / (SIDE * SIDE)
          if (mean > (high - low < 2 * DRAWN ? PLAIN : DRAWN)) return `differs at ${x}, ${y}`
        }
    return undefined
  }, urls)
}
