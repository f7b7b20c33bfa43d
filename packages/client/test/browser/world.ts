// What browser tests share: one Chromium per process, and a relay and the app per file. Contexts are closed
// after each test.
import { afterAll, afterEach, beforeAll } from 'bun:test'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { Browser, BrowserContext } from 'playwright-core'
import type { AppSettings } from './app.ts'
import { AppTab, prepare } from './app-tab.ts'
import { type ServedApp, serveApp } from './chromium.ts'
import { sharedChromium } from './shared-chromium.ts'

interface Friends {
  readonly alice: AppTab
  readonly bob: AppTab
  /** Alice's alias. */
  readonly a: string
  /** Bob's alias. */
  readonly b: string
}

export class BrowserWorld {
  readonly #contexts: BrowserContext[] = []
  #started: { browser: Browser; relay: RelayProcess; app: ServedApp } | undefined

  constructor() {
    beforeAll(async () => {
      const [browser, relay, app] = await Promise.all([
        sharedChromium(),
        startRelay({ env: { PAYMENTS: 'dev' } }),
        serveApp(join(import.meta.dir, 'app.ts')),
      ])
      this.#started = { browser, relay, app }
    })
    afterEach(async () => {
      for (const context of this.#contexts.splice(0)) await context.close()
    })
    afterAll(async () => {
      await this.#started?.relay.stop()
      await this.#started?.app.stop()
    })
  }

  get relay(): RelayProcess {
    return this.#get().relay
  }

  get app(): ServedApp {
    return this.#get().app
  }

  /** A browser context for one person. Its pages have these settings. */
  async newContext(settings: Partial<AppSettings> = {}): Promise<BrowserContext> {
    return this.keep(await this.#get().browser.newContext(), settings)
  }

  /** Takes over a context that the test created: prepares it, and closes it after the test. */
  async keep(context: BrowserContext, settings: Partial<AppSettings> = {}): Promise<BrowserContext> {
    this.#contexts.push(context)
    await prepare(context, { relayUrl: this.relay.url, pauses: 'brief', ...settings })
    return context
  }

  /** Registers a person in a tab of a new browser context. */
  async enter(nickname: string, settings: Partial<AppSettings> = {}): Promise<AppTab> {
    const tab = await this.open(await this.newContext(settings))
    await tab.register(nickname)
    return tab
  }

  /** Registers Alice, with these settings, and Bob, and makes them friends. */
  async friends(settings: Partial<AppSettings> = {}): Promise<Friends> {
    const [alice, bob] = [await this.enter('alice', settings), await this.enter('bob')]
    await alice.befriend(bob)
    return { alice, bob, a: await alice.alias(), b: await bob.alias() }
  }

  /** Registers Alice and Bob as friends, and opens a second tab for Alice. */
  async twoTabs(): Promise<Friends & { second: AppTab }> {
    const friends = await this.friends()
    return { ...friends, second: await this.duplicate(friends.alice) }
  }

  open(context: BrowserContext): Promise<AppTab> {
    return AppTab.open(context, this.app)
  }

  /** Opens another tab of the same person, and waits until it is connected. */
  async duplicate(tab: AppTab): Promise<AppTab> {
    const second = await this.open(tab.page.context())
    await second.connected()
    return second
  }

  #get(): { browser: Browser; relay: RelayProcess; app: ServedApp } {
    if (!this.#started) throw new Error('nothing has started')
    return this.#started
  }
}
