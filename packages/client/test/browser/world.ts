// What browser tests share: one Chromium, one relay and the app for a file; contexts that are closed after each test.
import { afterAll, afterEach, beforeAll } from 'bun:test'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { Browser, BrowserContext } from 'playwright-core'
import type { AppSettings } from './app.ts'
import { AppTab, prepare } from './app-tab.ts'
import { type ServedApp, serveApp, startChromium } from './chromium.ts'

interface Friends {
  readonly alice: AppTab
  readonly bob: AppTab
  /** Her alias. */
  readonly a: string
  /** His alias. */
  readonly b: string
}

export class BrowserWorld {
  readonly #contexts: BrowserContext[] = []
  #started: { browser: Browser; relay: RelayProcess; app: ServedApp } | undefined

  constructor() {
    beforeAll(async () => {
      const [browser, relay, app] = await Promise.all([
        startChromium(),
        startRelay({ env: { PAYMENTS: 'dev' } }),
        serveApp(join(import.meta.dir, 'app.ts')),
      ])
      this.#started = { browser, relay, app }
    })
    afterEach(async () => {
      for (const context of this.#contexts.splice(0)) await context.close()
    })
    afterAll(async () => {
      await this.#started?.browser.close()
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

  /** A browser of one person, its pages told what they are to do. */
  async newContext(settings: Partial<AppSettings> = {}): Promise<BrowserContext> {
    return this.keep(await this.#get().browser.newContext(), settings)
  }

  /** Has a context of another making closed like the others. */
  async keep(context: BrowserContext, settings: Partial<AppSettings> = {}): Promise<BrowserContext> {
    this.#contexts.push(context)
    await prepare(context, { relayUrl: this.relay.url, ...settings })
    return context
  }

  /** A person who has registered, in a tab of a browser of their own. */
  async enter(nickname: string, settings: Partial<AppSettings> = {}): Promise<AppTab> {
    const tab = await this.open(await this.newContext(settings))
    await tab.register(nickname)
    return tab
  }

  /** Two friends, the first with these settings, and the alias of each. */
  async friends(settings: Partial<AppSettings> = {}): Promise<Friends> {
    const [alice, bob] = [await this.enter('alice', settings), await this.enter('bob')]
    await alice.befriend(bob)
    return { alice, bob, a: await alice.alias(), b: await bob.alias() }
  }

  /** Two friends, the first in two tabs. */
  async twoTabs(): Promise<Friends & { second: AppTab }> {
    const friends = await this.friends()
    return { ...friends, second: await this.duplicate(friends.alice) }
  }

  open(context: BrowserContext): Promise<AppTab> {
    return AppTab.open(context, this.app)
  }

  /** Another tab of the same person. */
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
