// The parts look as they did: their pictures are compared with the stored ones.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { differenceOf, PICTURES, photographParts } from './parts/pictures.ts'

setDefaultTimeout(240_000)

test('every part looks as in its stored picture', async () => {
  const browser = await sharedChromium()
  const taken = await photographParts(browser)
  const stored = (await readdir(PICTURES)).map((file) => file.replace(/\.png$/, ''))
  const context = await browser.newContext()
  const page = await context.newPage()
  const differences: string[] = []
  for (const name of new Set([...taken.keys(), ...stored])) {
    const picture = taken.get(name)
    const difference =
      picture === undefined
        ? 'is stored, and there is no such part'
        : stored.includes(name)
          ? await differenceOf(page, await readStored(name), picture)
          : 'is not stored'
    if (difference === undefined) continue
    const folder = await mkdtemp(join(tmpdir(), 'sotto-picture-'))
    if (picture) await Bun.write(join(folder, `${name}.png`), picture)
    differences.push(`${name} ${difference}: ${folder}`)
  }
  await context.close()
  // If the change is wanted: `npm run app-screenshots -- parts` stores the pictures again.
  expect(differences).toEqual([])
})

async function readStored(name: string): Promise<Buffer> {
  return Buffer.from(await Bun.file(join(PICTURES, `${name}.png`)).arrayBuffer())
}

test('a letter that is drawn a little differently is no difference, another colour or place is one', async () => {
  const context = await (await sharedChromium()).newContext({ viewport: { width: 200, height: 80 } })
  const page = await context.newPage()
  const draw = async (style: string): Promise<Buffer> => {
    await page.setContent(`<p style="margin:8px;font:17px 'Noto Sans';${style}">Messages</p>`)
    return page.screenshot()
  }
  const usual = await draw('')
  expect(await differenceOf(page, usual, await draw('text-rendering:geometricPrecision'))).toBeUndefined()
  expect(await differenceOf(page, usual, await draw('margin-top:11px'))).toStartWith('differs at')
  expect(await differenceOf(page, usual, await draw('color:#777'))).toStartWith('differs at')
  expect(await differenceOf(page, usual, await draw('background:#f4f4f4'))).toStartWith('differs at')
  expect(await differenceOf(page, usual, await draw('font-size:18px'))).toStartWith('differs at')
  await context.close()
})
