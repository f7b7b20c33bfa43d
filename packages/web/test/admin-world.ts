// The admin page of a real relay, and operators with a browser each.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { tellRelay } from '@sotto/relay'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { BrowserPerson, type PersonOptions } from './browser-person.ts'
import { builtAdminPage } from './built-app.ts'

/** Somebody at the admin page. */
export class Operator extends BrowserPerson {
  /** Opens the page by a link. */
  comes(): Promise<void> {
    return this.opensTab()
  }

  /** Goes to a page by the navigation. */
  async visits(page: keyof BrowserPerson['t']['admin']['pages']): Promise<void> {
    const name = this.t.admin.pages[page]
    await this.page.getByRole('link', { name, exact: true }).click()
    await this.page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
    await this.settles()
  }

  /** The value beside this name in the figures. */
  figure(name: string): Promise<string> {
    const row = this.page
      .locator('.admin-figure', { has: this.page.getByText(name, { exact: true }) })
      .first()
    return row.getByRole('definition').innerText()
  }
}

/** A relay with its admin page. */
export class AdminStage {
  readonly #people: Operator[] = []
  #relay: RelayProcess | undefined

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#relay = await startRelay({ env: { ADMIN_DIR: builtAdminPage(), LOG_LEVEL: 'info', ...env } })
  }

  get relay(): RelayProcess {
    if (!this.#relay) throw new Error('no relay has started')
    return this.#relay
  }

  /** A link as `sotto admin` prints it. */
  async link(): Promise<string> {
    return (await this.tells('admin.open', { who: 'ada' })).url
  }

  /** Gives the relay a command, as the command line does. */
  tells: <Name extends Parameters<typeof tellRelay>[1]>(
    command: Name,
    input: object,
  ) => ReturnType<typeof tellRelay<Name>> = (command, input) =>
    tellRelay({ DATA_DIR: this.relay.dataDir }, command, input)

  /** An operator who has opened a link. */
  async enters(options: PersonOptions = {}, link?: string): Promise<Operator> {
    const browser = await sharedChromium()
    const context = await browser.newContext(BrowserPerson.settings(options))
    const operator = new Operator('Ada', context, link ?? (await this.link()), options)
    this.#people.push(operator)
    await operator.comes()
    return operator
  }

  /** Closes all browsers. Returns what they complained about. */
  async part(): Promise<readonly string[]> {
    const people = this.#people.splice(0)
    for (const { context } of people) await context.close()
    return people.flatMap(({ complaints }) => complaints)
  }

  async stop(): Promise<void> {
    await this.#relay?.stop()
  }
}

/** The stage of a test file. Whatever a browser complains about fails the test. */
export function useAdminStage(env: Readonly<Record<string, string>> = {}): AdminStage {
  const stage = new AdminStage()
  // Long enough for a busy machine: slowness alone must not fail a test.
  setDefaultTimeout(240_000)
  beforeAll(() => stage.start(env))
  afterEach(async () => {
    expect(await stage.part()).toEqual([])
  })
  afterAll(() => stage.stop())
  return stage
}
