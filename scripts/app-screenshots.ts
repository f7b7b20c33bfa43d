// Makes pictures of every screen of the app: `npm run app-screenshots`. On a phone and a desktop, light and
// dark, in English and Arabic, each in a folder of its own under `screenshots/`, which git ignores.
// `npm run app-screenshots -- parts` stores the pictures that the page of parts is compared with.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sharedChromium } from '../packages/client/test/browser/shared-chromium.ts'
import type { PersonOptions } from '../packages/web/test/app-person.ts'
import { AppStage } from '../packages/web/test/app-stage.ts'
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

await rm(FOLDER, { recursive: true, force: true })
const stage = new AppStage()
await stage.start()
try {
  for (const screen of ['phone', 'desktop'] as const)
    for (const theme of ['light', 'dark'] as const)
      for (const language of ['en', 'ar'] as const) await photograph({ screen, theme, language })
} finally {
  await stage.stop()
}
process.exit(0)

async function photograph(options: PersonOptions): Promise<void> {
  const folder = join(FOLDER, `${options.screen}-${options.theme}-${options.language}`)
  await mkdir(folder, { recursive: true })
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
