// Makes pictures of every screen of the app and of the admin page: `npm run app-screenshots`. On a phone and
// a desktop, light and dark, in English and Arabic, each in a folder of its own under `screenshots/`, which
// git ignores. `npm run app-screenshots -- admin` makes those of the admin page alone.
// `npm run app-screenshots -- parts` stores the pictures that the page of parts is compared with, and
// `npm run app-screenshots -- icons` draws the PNG icons from the SVG ones.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sharedChromium } from '../packages/client/test/browser/shared-chromium.ts'
import { fillRelay, tourOfAdmin } from '../packages/web/test/admin-tour.ts'
import { AdminStage } from '../packages/web/test/admin-world.ts'
import { AppStage } from '../packages/web/test/app-stage.ts'
import type { PersonOptions } from '../packages/web/test/browser-person.ts'
import { drawIcons, ICONS } from '../packages/web/test/icons.ts'
import { PICTURES, photographParts } from '../packages/web/test/parts/pictures.ts'
import { tour } from '../packages/web/test/tour.ts'
import { ensureSystemPackages } from './system-packages.mjs'

const FOLDER = join(import.meta.dir, '../screenshots')

const missing = ensureSystemPackages()
if (missing !== undefined) console.error(missing)

if (process.argv[2] === 'parts') {
  await storeParts()
  process.exit(0)
}
if (process.argv[2] === 'icons') {
  await storeIcons()
  process.exit(0)
}

await rm(FOLDER, { recursive: true, force: true })
await photographAdmin()
if (process.argv[2] === 'admin') process.exit(0)
const stage = new AppStage({ keepsApp: true })
await stage.start()
try {
  for (const options of everyKind()) await photograph(options)
} finally {
  await stage.stop()
}
process.exit(0)

/** What people have who look at the pictures: each kind of screen, theme and language. */
function everyKind(): readonly PersonOptions[] {
  return (['phone', 'desktop'] as const).flatMap((screen) =>
    (['light', 'dark'] as const).flatMap((theme) =>
      (['en', 'ar'] as const).map((language) => ({ screen, theme, language })),
    ),
  )
}

async function folderFor({ screen, theme, language }: PersonOptions): Promise<string> {
  const folder = join(FOLDER, `${screen}-${theme}-${language}`)
  await mkdir(folder, { recursive: true })
  return folder
}

async function photographAdmin(): Promise<void> {
  const stage = new AdminStage()
  await stage.start({ MANUAL_PAY_TO: 'the till' })
  await fillRelay(stage)
  for (const options of everyKind()) {
    const folder = await folderFor(options)
    await tourOfAdmin(stage, options, async ({ page }, name) => {
      await page.screenshot({ path: join(folder, `admin-${name}.png`), animations: 'disabled' })
    })
    for (const complaint of await stage.part()) console.error(complaint)
  }
  await stage.stop()
}

async function photograph(options: PersonOptions): Promise<void> {
  const folder = await folderFor(options)
  let number = 0
  await tour(stage, options, async (person, name) => {
    number++
    const path = join(folder, `${String(number).padStart(2, '0')}-${name}.png`)
    await person.page.screenshot({ path, animations: 'disabled' })
  })
  for (const complaint of await stage.part()) console.error(complaint)
  console.log(`${number} pictures in ${folder}`)
}

async function storeParts(): Promise<void> {
  const pictures = await photographParts(await sharedChromium())
  await rm(PICTURES, { recursive: true, force: true })
  await mkdir(PICTURES)
  for (const [name, picture] of pictures) await writeFile(join(PICTURES, `${name}.png`), picture)
  console.log(`${pictures.size} pictures in ${PICTURES}`)
}

async function storeIcons(): Promise<void> {
  const icons = await drawIcons(await sharedChromium())
  for (const [name, icon] of icons) await writeFile(join(ICONS, name), icon)
  console.log(`${icons.size} icons in ${ICONS}`)
}
