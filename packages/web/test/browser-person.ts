// A person at a browser: what they do in any page, and what their browser complains about. Everything is
// found as a person finds it, by roles and names.
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type AllTexts, arabic, english } from './all-texts.ts'

/** What kind of screen the person has, and what they chose. */
export interface PersonOptions {
  readonly language?: 'en' | 'ar'
  readonly screen?: 'phone' | 'desktop'
  readonly theme?: 'light' | 'dark'
  /** A file with what their camera sees, in MJPEG. By default the browser's moving picture. */
  readonly camera?: string
  /** How far the clock of their device is ahead, in milliseconds. */
  readonly aheadMs?: number
  /**
   * Whether their browser keeps the app, by its service worker. Without, as on pages without TLS, a first
   * visit costs half as much, and the app works only while its server can be reached.
   */
  readonly keepsApp?: boolean
  /** A folder for all that their browser stores. By default that is on the disk of the tests. */
  readonly profile?: string
}

/** The sizes of screens, in CSS pixels. */
export const SCREENS = { phone: { width: 390, height: 800 }, desktop: { width: 1100, height: 720 } }

/** Waits are for what the person would see, for as long as a busy machine may take. */
const PATIENCE_MS = 60_000

/**
 * What Chromium says about answers that belong to the protocol: the app asks whether its own server is a
 * relay, a recovery learns from the refused registration that there is the account, and a device asks whether
 * a conversation has a group, also one whose friendship has ended.
 */
const OF_THE_PROTOCOL = [
  /status of 404 .*\/health\)$/,
  /status of 409 .*\/register\)$/,
  /status of 40[34] .*\/group\)$/,
]

/** What Chromium itself says when a connection fails, which is no complaint of somebody who is offline. */
const OF_THE_LINE = /net::ERR_|WebSocket connection to .* failed|Failed to load resource: net/

/** Relays, hosts of the app and stores of media are here: a request to anybody else is a complaint. */
const OF_THIS_MACHINE = /^(?:(?:http|ws)s?:\/\/(?:127\.0\.0\.1|localhost|relay\.example)[:/]|blob:|data:)/

/** A person, their browser, and the tab they look at. */
export class BrowserPerson {
  readonly name: string
  readonly context: BrowserContext
  /** Errors in their tabs: thrown ones, those in the console, and violations of the page's policy. */
  readonly complaints: string[] = []
  /** The words of the app in the person's language. */
  readonly t: AllTexts
  readonly #address: string
  readonly #expected = [...OF_THE_PROTOCOL]
  #page: Page | undefined

  /** The settings of the browser context. */
  static settings({
    language = 'en',
    screen = 'desktop',
    theme = 'light',
  }: PersonOptions): BrowserContextOptions {
    return {
      viewport: SCREENS[screen],
      hasTouch: screen === 'phone',
      locale: language === 'ar' ? 'ar-EG' : 'en-US',
      colorScheme: theme,
      reducedMotion: 'reduce',
      permissions: ['clipboard-write', 'clipboard-read'],
    }
  }

  /** @param address the app's address, for the first visit */
  constructor(
    name: string,
    context: BrowserContext,
    address: string,
    { language = 'en' }: PersonOptions = {},
  ) {
    this.name = name
    this.context = context
    this.#address = address
    this.t = language === 'ar' ? arabic : english
    context.setDefaultTimeout(PATIENCE_MS)
    context.on('page', (page) => this.#listen(page))
    context.on('request', (request) => {
      if (!OF_THIS_MACHINE.test(request.url())) this.complaints.push(`${name}: asked ${request.url()}`)
    })
  }

  /** The tab that the person looks at. */
  get page(): Page {
    if (!this.#page) throw new Error(`${this.name} has no tab`)
    return this.#page
  }

  /** From now on the console may say this. */
  expects(complaint: RegExp): void {
    this.#expected.push(complaint)
  }

  /** Opens the app in a new tab, which is the one that is looked at from now on. */
  protected async opensTab(): Promise<void> {
    this.#page = await this.context.newPage()
    await this.page.goto(this.#address)
  }

  /** Looks at another tab of the same browser. */
  looksAt(page: Page): void {
    this.#page = page
  }

  /** Closes the tab. What the app has stored stays. */
  async leaves(): Promise<void> {
    await this.page.close()
    this.#page = undefined
  }

  async reloads(): Promise<void> {
    await this.page.reload()
  }

  /** Waits until the browser keeps the app, so that the service worker answers from now on. */
  async waitsUntilKept(): Promise<void> {
    await this.page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated')
  }

  /** From now on the relay may be out of reach. */
  expectsInterruptions(): void {
    this.expects(OF_THE_LINE)
  }

  /** Loses the connection of the whole browser. */
  async goesOffline(): Promise<void> {
    this.expectsInterruptions()
    await this.context.setOffline(true)
  }

  async goesOnline(): Promise<void> {
    await this.context.setOffline(false)
  }

  /** Presses the button with this name. */
  async presses(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click()
  }

  /** Follows the first link whose name begins with these words: a number that waits may come after them. */
  async follows(name: string): Promise<void> {
    const begins = new RegExp(`^${RegExp.escape(name)}`)
    await this.page.getByRole('link', { name: begins }).first().click()
  }

  /** Goes to a place of the app, such as `#/contacts`, as a link does. */
  async goesTo(place: string): Promise<void> {
    await this.page.evaluate(
      (to) =>
        new Promise<void>((resolve) => {
          if (location.hash === to) return resolve()
          // Until this event, the app shows the place before.
          addEventListener('hashchange', () => resolve(), { once: true })
          location.hash = to
        }),
      place,
    )
    await this.settles()
  }

  /** Waits until nothing is loading and nothing moves. */
  async settles(): Promise<void> {
    await this.holdsStill()
    // The bar of the lost connection turns until the connection is back.
    await this.page.waitForFunction(
      () => !document.querySelector('[aria-busy="true"], :not(.app-bar) > .spinner'),
    )
    // What was loaded may move.
    await this.holdsStill()
  }

  /** Waits until nothing moves, also while something is loading. */
  async holdsStill(): Promise<void> {
    // Two frames: one draws what the last event changed, one what that effected.
    await this.page.evaluate(async () => {
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
    })
    // Not an async function: playwright takes its promise for a yes.
    await this.page.waitForFunction(
      () =>
        !document
          .getAnimations()
          .some((each) => each.playState === 'running' && each.effect?.getTiming().iterations !== Infinity),
    )
  }

  /** Chooses an action of the open menu. */
  async choosesFromMenu(action: string): Promise<void> {
    await this.page.getByRole('menuitem', { name: action, exact: true }).click()
  }

  /** Waits for words anywhere on the screen. */
  async reads(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  #listen(page: Page): void {
    const complain = (what: string): void => {
      if (this.#expected.some((pattern) => pattern.test(what))) return
      this.complaints.push(`${this.name}: ${what}`)
    }
    page.on('pageerror', (error) => complain(error.stack ?? error.message))
    page.on('console', (message) => {
      // Chromium says violations of the page's policy here, too.
      if (message.type() === 'error') complain(`${message.text()} (${message.location().url})`)
    })
    page.on('crash', () => complain('the tab crashed'))
  }
}
