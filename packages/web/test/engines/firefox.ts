// Firefox, driven by WebDriver BiDi, which it speaks itself.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer, { type BrowserContext, ElementHandle, type Page } from 'puppeteer-core'
import { findFirefox } from '../../../../scripts/find-engines.mjs'
import { until } from '../../../client/test/people.ts'
import { findFreePort } from '../../../relay/test/free-port.ts'
import { type Control, type Engine, PATIENCE_MS, type Tab } from './tab.ts'

/**
 * Firefox itself turns off first-run pages, telemetry and updates for who drives it. What it asks for by
 * name is asked of this machine. The camera and the microphone are fake ones and allowed.
 */
const PREFERENCES = {
  'network.dns.forceResolve': '127.0.0.1',
  'ui.prefersReducedMotion': 1,
  'intl.accept_languages': 'en-US',
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
}

/** Starts Firefox with a fresh profile. @param preferences besides those of all stories */
export async function startFirefox(preferences: Readonly<Record<string, boolean>> = {}): Promise<Engine> {
  const program = findFirefox()
  if (!program) throw new Error('no Firefox: npm test installs it, or set FIREFOX to its path')
  const profile = await mkdtemp(join(tmpdir(), 'sotto-firefox-'))
  const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  )
  await Bun.write(join(profile, 'user.js'), lines.join('\n'))
  const port = await findFreePort()
  // The kernel ends Firefox if this process is killed before it can stop it.
  const firefox = Bun.spawn(
    [
      ...['setpriv', '--pdeathsig', 'KILL', '--', program, '--headless', '--no-remote'],
      ...['--profile', profile, '--remote-debugging-port', String(port)],
    ],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  )
  const listens = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
      () => true,
      () => false,
    )
  await until('Firefox listens', listens, PATIENCE_MS)
  const browser = await puppeteer.connect({
    browserWSEndpoint: `ws://127.0.0.1:${port}/session`,
    protocol: 'webDriverBiDi',
    defaultViewport: null,
    protocolTimeout: PATIENCE_MS,
  })
  return {
    name: 'Firefox',
    newProfile: async () => {
      const context = await browser.createBrowserContext()
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      await page.setViewport({ width: 1100, height: 720 })
      return new FirefoxTab(context, page)
    },
    stop: async () => {
      await browser.close()
      await firefox.exited
      await rm(profile, { recursive: true, force: true })
    },
  }
}

class FirefoxTab implements Tab {
  readonly #context: BrowserContext
  readonly #page: Page

  constructor(context: BrowserContext, page: Page) {
    this.#context = context
    this.#page = page
  }

  async open(url: string): Promise<void> {
    await this.#page.goto(url)
  }

  async reload(): Promise<void> {
    await this.#page.reload()
  }

  async compute(expression: string): Promise<unknown> {
    return this.#page.evaluate(expression)
  }

  async find(expression: string): Promise<Control> {
    const element = await this.#page.evaluateHandle(expression)
    if (!(element instanceof ElementHandle)) throw new Error(`no element: ${expression}`)
    return {
      click: () => click(element),
      type: async (text) => {
        const [line = '', ...enters] = text.split('\n')
        await element.type(line)
        for (const _ of enters) await element.press('Enter')
      },
      choose: (path) => element.uploadFile(path),
    }
  }

  async picture(): Promise<Uint8Array> {
    return this.#page.screenshot()
  }

  async close(): Promise<void> {
    await this.#context.close()
  }
}

/** Clicks the middle of an element. @throws Error if the page moved meanwhile, so that the click missed it */
async function click(element: ElementHandle): Promise<void> {
  await element.evaluate((it) => {
    const noted = (): unknown => Reflect.set(it, 'wasClicked', true)
    Reflect.set(it, 'wasClicked', false)
    it.addEventListener('click', noted, { capture: true, once: true })
  })
  await element.click()
  // Where the click has led to another page, there is no element to ask.
  const wasClicked = await element.evaluate((it) => Reflect.get(it, 'wasClicked') === true).catch(() => true)
  if (!wasClicked) throw new Error('the page moved, and the click missed the element')
}
