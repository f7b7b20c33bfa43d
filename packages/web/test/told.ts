// What people are told in notices. A notice is there for six seconds, and a busy machine may look later.
import type { BrowserContext, Page } from 'playwright-core'
import type { AppPerson } from './app-person.ts'

declare global {
  /** The texts of the notices that the page has shown. */
  var toldNotices: string[]
}

/** Records from now on the notices of each page that is loaded. */
export async function recordNotices(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    globalThis.toldNotices = []
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) {
          if (!(node instanceof Element)) continue
          const found = node.matches('.notice') ? [node] : node.querySelectorAll('.notice')
          for (const notice of found) globalThis.toldNotices.push(notice.firstElementChild?.textContent ?? '')
        }
    }).observe(document, { childList: true, subtree: true })
  })
}

/** Waits until a notice in the tab that the person looks at has said this. */
export async function isTold(person: AppPerson, text: string): Promise<void> {
  await person.page.waitForFunction((wanted) => globalThis.toldNotices.includes(wanted), text)
}

/** From now on a page keeps its notices, and what can be undone, until it is loaded again. */
export async function keepNotices(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { setTimeout } = globalThis
    const later = (run: () => void, ms?: number): unknown => setTimeout(run, ms === 6000 ? 600_000 : ms)
    Object.assign(globalThis, { setTimeout: later })
  })
}
