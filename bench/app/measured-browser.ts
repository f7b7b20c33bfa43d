// A Chromium with a filled store, whose page runs on a processor that is slowed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { serveApp, startChromiumWith } from '../../packages/client/test/browser/chromium.ts'
import { AppPerson } from '../../packages/web/test/app-person.ts'
import type { FillPage } from './fill-page.ts'
import { addPageClock } from './page-clock.ts'
import type { Account } from './people.ts'

/** How many times slower the page's main thread is than the machine. */
export const SLOWDOWN = 4

type Calls = Omit<FillPage, 'isReady'>

/** Calls a function of the page that fills the store. */
export type CallFillPage = <N extends keyof Calls>(name: N, ...args: Parameters<Calls[N]>) => Promise<void>

/** A profile on the disk, with the account in it. */
export class FilledProfile {
  readonly folder: string
  readonly account: Account
  readonly #url: string

  private constructor(folder: string, account: Account, url: string) {
    this.folder = folder
    this.account = account
    this.#url = url
  }

  /** Recovers the account in a new profile, lets `fill` do more, and installs the app in it. */
  static async make(
    url: string,
    account: Account,
    fill: (call: CallFillPage) => Promise<void>,
  ): Promise<FilledProfile> {
    const profile = new FilledProfile(await mkdtemp(join(tmpdir(), 'sotto-app-')), account, url)
    const context = await startChromiumWith(profile.folder)
    await fillIn(context, url, account, fill)
    // The first visit installs the service worker, so that later ones find the app on the device.
    const page = await context.newPage()
    await page.goto(url)
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
    await context.close()
    return profile
  }

  /** Starts Chromium with this profile, and opens the app. */
  async open(): Promise<MeasuredBrowser> {
    const settings = AppPerson.settings({})
    const context = await startChromiumWith(this.folder, settings)
    await addPageClock(context, this.account.conversations.length)
    const person = new AppPerson('the measured one', context, this.#url)
    await person.comes()
    const devTools = await context.newCDPSession(person.page)
    const browser = new MeasuredBrowser(this.#url, context, person, devTools)
    await browser.isReady()
    return browser
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true })
  }
}

/** A browser with the app. */
export class MeasuredBrowser {
  readonly person: AppPerson
  readonly devTools: CDPSession
  readonly #context: BrowserContext
  readonly #url: string

  constructor(url: string, context: BrowserContext, person: AppPerson, devTools: CDPSession) {
    this.#url = url
    this.#context = context
    this.person = person
    this.devTools = devTools
  }

  get page(): Page {
    return this.person.page
  }

  /** Slows the page's main thread from now on. Workers and the browser's other processes keep their speed. */
  async slowDown(): Promise<void> {
    await this.devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  }

  /** Loads the app again. Returns the milliseconds until the list of conversations is painted. */
  async reloads(): Promise<number> {
    await this.person.reloads()
    return this.page.evaluate(() => clock.listShown)
  }

  /** Leaves the app, whose client ends. */
  async leaves(): Promise<void> {
    await this.page.goto('about:blank')
  }

  /** Opens the app at a place, such as `#/chats`. Resolves when the list of conversations is painted. */
  async returns(place: string): Promise<void> {
    await this.page.goto(`${this.#url}/${place}`)
    await this.page.evaluate(() => clock.listShown)
  }

  /** Presses something. Returns the milliseconds until a message with this text is painted. */
  async fromPress(text: string, press: () => Promise<void>): Promise<number> {
    const shown = this.page.evaluate(async (text) => (await clock.messageShown(text)) - clock.pressedAt, text)
    await press()
    return shown
  }

  /** Waits until the list is there and the page has nothing to do. */
  async isReady(): Promise<void> {
    await this.page.evaluate(() => clock.listShown)
    await this.page.evaluate(() => clock.isIdle())
  }

  /** The bytes of the JavaScript heap without garbage. */
  async heapBytes(): Promise<number> {
    await this.devTools.send('HeapProfiler.collectGarbage')
    return (await this.devTools.send('Runtime.getHeapUsage')).usedSize
  }

  /** @throws if the app has complained */
  async close(): Promise<void> {
    await this.#context.close()
    const { complaints } = this.person
    if (complaints.length > 0) throw new Error(`the app complained: ${complaints.join('\n')}`)
  }
}

async function fillIn(
  context: BrowserContext,
  url: string,
  { phrase, conversations, waiting }: Account,
  fill: (call: CallFillPage) => Promise<void>,
): Promise<void> {
  const app = await serveApp(join(import.meta.dir, 'fill-page.ts'))
  // The page has the relay's origin, so that the app finds what it has stored.
  await context.route(`${url}/fill/**`, async (route) => {
    const asked = new URL(route.request().url()).pathname.replace('/fill', '')
    const answer = await fetch(`${app.url}${asked}`)
    const body = (await answer.text()).replace('src="/', 'src="/fill/')
    await route.fulfill({ body, contentType: answer.headers.get('content-type') ?? '' })
  })
  // To Chromium, a page that a test answers is one of the internet, which may not ask this machine.
  await context.grantPermissions(['local-network-access'], { origin: url })
  const page = await context.newPage()
  await page.goto(`${url}/fill/`)
  await page.waitForFunction(() => 'isReady' in globalThis)
  const call: CallFillPage = (name, ...args) =>
    page.evaluate(({ name, args }) => Reflect.apply(Reflect.get(globalThis, name), undefined, args), {
      name,
      args,
    })
  await call('recover', phrase, conversations.length, waiting)
  await fill(call)
  await call('close')
  await page.close()
  await app.stop()
}
