// Looks for barriers with axe-core.
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import type { PersonOptions } from './app-person.ts'
import type { AppStage } from './app-stage.ts'
import { tour } from './tour.ts'

const script = await Bun.file(join(import.meta.dir, '../../../node_modules/axe-core/axe.min.js')).text()

/** What WCAG 2.2 asks for at the levels A and AA, and every other rule of axe that is not of level AAA. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice', 'experimental']

/** The barriers in a page, one line each: the rule, where, and why. */
export async function barriersIn(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(script)
  const { violations } = await page.evaluate<AxeResults, readonly string[]>(
    (tags) => Reflect.get(globalThis, 'axe').run(document, { runOnly: tags }),
    TAGS,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  )
}

/** The barriers of every screen. */
export async function barriersOnTour(stage: AppStage, options: PersonOptions): Promise<readonly string[]> {
  const found: string[] = []
  const seen: string[] = []
  await tour(stage, options, async (person, name) => {
    for (const barrier of await barriersIn(person.page)) found.push(`${name}: ${barrier}`)
    seen.push(name)
  })
  for (const name of ['welcome-phrase', 'chats', 'chats-open', 'contacts', 'contacts-add', 'contacts-open'])
    if (!seen.includes(name)) throw new Error(`the tour missed ${name}: it saw ${seen.join(', ')}`)
  return found
}
