// What browser tests of calls share: Chromium, coturn and a relay with a tap each, and people who call.
import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { type Coturn, startCoturn } from '@sotto/relay/testing/coturn'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { until } from '../people.ts'
import type { PhoneSettings, Seen } from './calls-app.ts'
import { RelayTap, TurnTap } from './calls-taps.ts'
import { type ServedApp, serveApp } from './chromium.ts'
import { sharedChromium } from './shared-chromium.ts'

const SECRET = 'a secret of 32 characters or so!'

/** The time-out of waits for calls and their media: a busy machine encodes pictures slowly. */
export const LONG_MS = 90_000

interface Started {
  readonly coturn: Coturn
  readonly turn: TurnTap
  readonly relay: RelayProcess
  readonly wire: RelayTap
  readonly browser: Browser
  readonly app: ServedApp
}

/** Everything that calls need, started once per test file. */
export class CallsWorld {
  readonly #contexts: BrowserContext[] = []
  #started: Started | undefined

  /** @param page the script of the page */
  constructor(page = 'calls-app.ts') {
    beforeAll(async () => {
      const files = [page, '../../src/calls/call-worker.ts', 'calls-tap-worker.ts']
      const [entry = '', ...workers] = files.map((file) => join(import.meta.dir, file))
      const startServers = async () => {
        const coturn = await startCoturn(SECRET)
        const turn = await TurnTap.before(coturn.port)
        const env = { TURN_URLS: `turn:127.0.0.1:${turn.port}`, TURN_SECRET: SECRET }
        const relay = await startRelay({ env })
        return { coturn, turn, relay, wire: await RelayTap.before(relay.url) }
      }
      const [servers, browser, app] = await Promise.all([
        startServers(),
        sharedChromium(),
        serveApp(entry, ...workers),
      ])
      this.#started = { ...servers, browser, app }
    }, 240_000)
    afterEach(async () => {
      for (const context of this.#contexts.splice(0)) await context.close()
      this.turn.lossShare = 0
    })
    afterAll(async () => {
      const { relay, app, coturn, turn, wire } = this.#get()
      turn.stop()
      wire.stop()
      await Promise.all([relay.stop(), app.stop(), coturn.stop()])
    })
  }

  /** The tap at the TURN server. */
  get turn(): TurnTap {
    return this.#get().turn
  }

  /** The tap at the relay. */
  get wire(): RelayTap {
    return this.#get().wire
  }

  /** Registers a person in a page of a new browser context. `before` runs before the page's own script. */
  async enter(nickname: string, settings: Partial<PhoneSettings> = {}, before?: () => void): Promise<Caller> {
    const { browser, app, wire } = this.#get()
    const context = await browser.newContext()
    this.#contexts.push(context)
    const all: PhoneSettings = { relayUrl: wire.url, nickname, ...settings }
    await context.addInitScript((each) => {
      globalThis.phoneSettings = each
    }, all)
    if (before) await context.addInitScript(before)
    const page = await context.newPage()
    await page.goto(app.url)
    await page.waitForFunction(() => 'isReady' in globalThis)
    return new Caller(page)
  }

  /** Opens another tab of a person whose tabs share a client. */
  async anotherTab(of: Caller): Promise<Caller> {
    const page = await of.page.context().newPage()
    await page.goto(this.#get().app.url)
    await page.waitForFunction(() => 'isReady' in globalThis)
    return new Caller(page)
  }

  /** Registers Alice and Bob, and makes them friends. */
  async pair(settings: Partial<PhoneSettings> = {}, ofBob = settings): Promise<[Caller, Caller]> {
    const [alice, bob] = await Promise.all([this.enter('alice', settings), this.enter('bob', ofBob)])
    await alice.befriend(bob)
    return [alice, bob]
  }

  #get(): Started {
    if (!this.#started) throw new Error('nothing has started')
    return this.#started
  }
}

/** One person, in a page of a separate browser context. */
export class Caller {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  async befriend(other: Caller): Promise<void> {
    const alias = await other.alias()
    const before = await this.friends()
    await this.page.evaluate((to) => phone.client.requestFriend(to), alias)
    await until(
      'they are friends',
      async () => (await this.friends()) > before && (await other.friends()) > 0,
    )
  }

  friends(): Promise<number> {
    return this.page.evaluate(async () => (await phone.client.conversations()).length)
  }

  alias(): Promise<string> {
    return this.page.evaluate(() => phone.client.identity?.aliasId ?? '')
  }

  /** Calls with camera and microphone, or with the microphone alone. Returns the error code, or `done`. */
  async call(other: Caller, withVideo = true): Promise<string> {
    const input = { to: await other.alias(), withVideo }
    return this.page.evaluate((each) => phone.call(each.to, each.withVideo), input)
  }

  accept(withVideo = true): Promise<string> {
    return this.page.evaluate((each) => phone.accept(each), withVideo)
  }

  hangUp(): Promise<void> {
    return this.page.evaluate(() => phone.calls.hangUp())
  }

  async is(state: string): Promise<void> {
    let states: string[] = []
    await until(
      `the call is ${state}`,
      async () => {
        states = await this.states()
        return states.at(-1)?.startsWith(state)
      },
      LONG_MS,
    ).catch(async (error) => {
      throw new Error(`${error.message}: ${states} ${await this.page.evaluate(() => phone.errors)}`)
    })
  }

  see(): Promise<Seen> {
    return this.page.evaluate(() => phone.see())
  }

  /** Each state the call was in, in order. */
  states(): Promise<string[]> {
    return this.page.evaluate(() => phone.states)
  }

  /** Waits until the page shows moving pictures of the other side and plays its sound. */
  async seesAndHears(): Promise<Seen> {
    let seen = await this.see()
    await until(
      'the other side is seen and heard',
      async () => {
        seen = await this.see()
        const { different, pictures, framesDecoded, audioEnergy } = seen
        return different >= 5 && pictures > 5 && framesDecoded >= 20 && audioEnergy > 0
      },
      LONG_MS,
    ).catch((error) => {
      throw new Error(`${error.message}: ${JSON.stringify(seen)}`)
    })
    return seen
  }

  /** Waits until the page has decoded more video and played more sound than now. */
  async seesAndHearsMore(): Promise<void> {
    const before = await this.see()
    await until(
      'more of the other side is seen and heard',
      async () => {
        const { framesDecoded, audioEnergy } = await this.see()
        return framesDecoded > before.framesDecoded + 10 && audioEnergy > before.audioEnergy
      },
      LONG_MS,
    ).catch(async (error) => {
      const [now, call] = [await this.see(), await this.page.evaluate(() => phone.calls.current)]
      throw new Error(
        `${error.message}: ${JSON.stringify({ before, now, call, states: await this.states() })}`,
      )
    })
  }
}

/**
 * Waits until `read` returns the same value twice, a second and a half apart. Then everything in transit has
 * arrived.
 */
export async function comesToRest(what: string, read: () => Promise<unknown>): Promise<void> {
  await until(
    what,
    async () => {
      const before = await read()
      await Bun.sleep(1500)
      return Bun.deepEquals(await read(), before)
    },
    LONG_MS,
  )
}

/** Alice calls and Bob accepts. Resolves when both are connected. */
export async function connect(alice: Caller, bob: Caller): Promise<void> {
  expect(await alice.call(bob)).toBe('done')
  await bob.is('ringing')
  expect(await bob.accept()).toBe('done')
  await alice.is('connected')
  await bob.is('connected')
}
