// Looks for barriers: with axe-core, on small and zoomed screens, and under wide spacing.
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { type BrowserPerson, SCREENS } from './browser-person.ts'
import { misfitsOf } from './narrow.ts'
import { cutTextsOf } from './text-spacing.ts'
import type { Look } from './tour.ts'

const script = await Bun.file(join(import.meta.dir, '../../../node_modules/axe-core/axe.min.js')).text()

/** What WCAG 2.2 asks for at the levels A and AA, and every other rule of axe that is not of level AAA. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice', 'experimental']

interface View {
  readonly screen: keyof typeof SCREENS
  readonly colorScheme: 'light' | 'dark'
}

/**
 * Both themes and both kinds of screen in each direction, in as few looks as that takes. The first one is
 * what people have on the tour in a language of this direction: that takes one change less.
 */
const VIEWS: Readonly<Record<'ltr' | 'rtl', readonly View[]>> = {
  ltr: [
    { screen: 'desktop', colorScheme: 'light' },
    { screen: 'phone', colorScheme: 'dark' },
  ],
  rtl: [
    { screen: 'phone', colorScheme: 'light' },
    { screen: 'desktop', colorScheme: 'dark' },
  ],
}

/** Collects what is found on both kinds of screen and in both themes, and what does not fit a small one. */
export class Barriers {
  /** One line each: where in the app, the kind of screen, the rule, where in the page, and why. */
  readonly found: string[] = []
  /** The names of the places. */
  readonly seen: string[] = []

  /** Looks at a page that holds still, and leaves it as large and as bright as it was. */
  async lookAt(person: BrowserPerson, name: string): Promise<void> {
    const { page } = person
    this.seen.push(name)
    const before = page.viewportSize()
    const { direction, theme } = await page.evaluate(
      () =>
        ({
          direction: document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr',
          theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
        }) as const,
    )
    for (const { screen, colorScheme } of VIEWS[direction]) {
      const isThere = page.viewportSize()?.width === SCREENS[screen].width && theme === colorScheme
      if (!isThere) await shows(person, SCREENS[screen], colorScheme)
      for (const barrier of await barriersIn(page))
        this.found.push(`${name}, ${screen}, ${colorScheme}: ${barrier}`)
      for (const cut of await cutTextsOf(page)) this.found.push(`${name}, ${screen}, wide spacing: ${cut}`)
    }
    for (const misfit of await misfitsOf(person)) this.found.push(`${name}, ${misfit}`)
    if (before) await shows(person, before, theme)
  }

  /** For tours. */
  get look(): Look {
    return (person, name) => this.lookAt(person, name)
  }
}

/** Gives the page a size and a theme. */
async function shows(
  person: BrowserPerson,
  size: (typeof SCREENS)[keyof typeof SCREENS],
  colorScheme: View['colorScheme'],
): Promise<void> {
  await person.page.setViewportSize(size)
  await person.page.emulateMedia({ colorScheme })
  await person.holdsStill()
}

/** The barriers in a page. */
async function barriersIn(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(script)
  const { violations } = await page.evaluate<AxeResults, readonly string[]>(
    (runOnly) => Reflect.get(globalThis, 'axe').run(document, { runOnly, resultTypes: ['violations'] }),
    TAGS,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  )
}
