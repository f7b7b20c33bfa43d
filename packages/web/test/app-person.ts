// A person at a browser with the app: what they do and see, in their own words. Everything is found as a
// person finds it, by roles and names.
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { ar } from '../src/texts/ar/ar.ts'
import { en, type Texts } from '../src/texts/en/en.ts'

/** What kind of screen the person has, and what they chose. */
export interface PersonOptions {
  readonly language?: 'en' | 'ar'
  readonly screen?: 'phone' | 'desktop'
  readonly theme?: 'light' | 'dark'
}

type Mark = keyof Texts['conversation']['marks']

const SCREENS = { phone: { width: 390, height: 800 }, desktop: { width: 1100, height: 720 } }

/** Waits are for what the person would see, for as long as a busy machine may take. */
const PATIENCE_MS = 45_000

/**
 * What Chromium says about answers that belong to the protocol: the app asks whether its own server is a
 * relay, and a recovery learns from the refused registration that there is the account.
 */
const OF_THE_PROTOCOL = [/status of 404 .*\/health\)$/, /status of 409 .*\/register\)$/]

/** What Chromium itself says when a connection fails, which is no complaint of somebody who is offline. */
const OF_THE_LINE = /net::ERR_|WebSocket connection to .* failed|Failed to load resource: net/

/** A person, their browser, and the tab they look at. */
export class AppPerson {
  readonly name: string
  readonly context: BrowserContext
  /** Errors in their tabs: thrown ones, those in the console, and violations of the page's policy. */
  readonly complaints: string[] = []
  /** The words of the app in the person's language. */
  readonly t: Texts
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
    this.t = language === 'ar' ? ar : en
    context.setDefaultTimeout(PATIENCE_MS)
    context.on('page', (page) => this.#listen(page))
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
  async comes(): Promise<void> {
    this.#page = await this.context.newPage()
    await this.page.goto(this.#address)
    const goOn = this.page.getByRole('button', { name: this.t.welcome.goOn, exact: true })
    await goOn
      .or(this.page.getByRole('button', { name: this.t.welcome.create }))
      .or(this.chats)
      .first()
      .waitFor()
    if (await goOn.isVisible()) await goOn.click()
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

  /** Loses the connection of the whole browser. */
  async goesOffline(): Promise<void> {
    this.expects(OF_THE_LINE)
    await this.context.setOffline(true)
  }

  async goesOnline(): Promise<void> {
    await this.context.setOffline(false)
  }

  /** Makes an account. Returns the recovery phrase. */
  async registers(): Promise<string> {
    const t = this.t.welcome
    await this.presses(t.create)
    await this.page.getByLabel(t.nicknameLabel).fill(this.name)
    await this.presses(t.create)
    const words = this.page.getByRole('main').getByRole('listitem')
    await words.first().waitFor()
    const phrase = await words.allTextContents()
    await this.presses(t.phraseWritten)
    await this.confirmsPhrase(phrase)
    return phrase.join(' ')
  }

  /** Enters the words that are asked for. */
  async confirmsPhrase(phrase: readonly string[]): Promise<void> {
    const t = this.t.welcome
    await this.page.getByRole('heading', { name: t.confirmTitle }).waitFor()
    for (const [at, word] of phrase.entries()) {
      const field = this.page.getByLabel(t.confirmWord(at + 1), { exact: true })
      if (await field.isVisible()) await field.fill(word)
    }
    await this.presses(t.confirmDo)
    // Who came by an invitation is asked about it first.
    await this.chats.or(this.page.getByRole('heading', { name: this.t.invitation.title })).waitFor()
  }

  /** Recovers an account with its phrase. */
  async recovers(phrase: string): Promise<void> {
    const t = this.t.welcome
    await this.presses(t.recover)
    await this.page.getByLabel(t.phraseLabel).fill(phrase)
    await this.presses(t.recoverDo)
    await this.chats.waitFor()
  }

  /** Becomes a contact of somebody: asks by alias, and is accepted. Both look at their chats after it. */
  async befriends(other: AppPerson): Promise<void> {
    await this.asksForFriendship(await other.ownAlias())
    await other.follows(other.t.common.contacts)
    await other.presses(other.t.contacts.accept)
    await other.follows(other.t.common.chats)
    await this.follows(this.t.common.chats)
    await this.conversationWith(other.name).waitFor()
    await other.conversationWith(this.name).waitFor()
  }

  /** Sends a friend request to an alias. */
  async asksForFriendship(alias: string): Promise<void> {
    const t = this.t.contacts
    await this.follows(this.t.common.contacts)
    await this.follows(t.add)
    await this.page.getByLabel(t.aliasLabel).fill(alias)
    await this.presses(t.find)
    await this.presses(t.request)
  }

  /** Looks up the own alias, as one does to tell it to somebody. */
  async ownAlias(): Promise<string> {
    await this.follows(this.t.common.contacts)
    await this.page.getByRole('link').filter({ hasText: this.t.contacts.myAlias }).click()
    await this.page.getByRole('heading', { name: this.t.contacts.myAlias, exact: true }).waitFor()
    return this.page.getByRole('main').locator('.code').last().innerText()
  }

  /** Sets a passphrase for the device, in the settings. */
  async setsPassphrase(passphrase: string): Promise<void> {
    const t = this.t.settings
    await this.goesTo('#/settings/lock')
    await this.page.getByLabel(t.passphraseNew).fill(passphrase)
    await this.page.getByLabel(t.passphraseAgain).fill(passphrase)
    await this.presses(t.passphraseSet)
    await this.reads(t.passphraseIsSet)
  }

  /** Locks the app, in the settings. */
  async locks(): Promise<void> {
    await this.goesTo('#/settings/lock')
    await this.presses(this.t.settings.lockNow)
    await this.page.getByRole('heading', { name: this.t.lock.title }).waitFor()
  }

  /** Enters the passphrase of the locked app. */
  async unlocks(passphrase: string): Promise<void> {
    await this.page.getByLabel(this.t.lock.passphrase).fill(passphrase)
    await this.presses(this.t.lock.unlock)
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
    // Two frames: one draws what the last event changed, one what that effected.
    await this.page.evaluate(async () => {
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
    })
    // Not an async function: playwright takes its promise for a yes.
    await this.page.waitForFunction(() => {
      const isMoving = document
        .getAnimations()
        .some((each) => each.playState === 'running' && each.effect?.getTiming().iterations !== Infinity)
      return !isMoving && !document.querySelector('[aria-busy="true"], .spinner')
    })
  }

  /** Opens the conversation with somebody. */
  async opens(contact: string): Promise<void> {
    await this.conversationWith(contact).click()
    await this.field.waitFor()
  }

  /** Types without sending. */
  async types(text: string): Promise<void> {
    await this.field.fill(text)
  }

  /** Writes a message in the open conversation and sends it. */
  async writes(text: string): Promise<void> {
    await this.types(text)
    await this.field.press('Enter')
    await this.sees(text)
  }

  /** Waits until the open conversation shows a message, and this mark at it. */
  async sees(text: string, { mark }: { readonly mark?: Mark } = {}): Promise<Locator> {
    const message = this.page.getByRole('article').filter({ hasText: text }).last()
    await message.waitFor()
    if (mark) await message.getByRole('img', { name: this.t.conversation.marks[mark], exact: true }).waitFor()
    return message
  }

  /** Opens the menu of a message in the open conversation, and chooses an action. */
  async does(action: string, text: string): Promise<void> {
    const message = await this.sees(text)
    await message.hover()
    const row = this.page.getByRole('listitem').filter({ has: this.page.getByRole('article') })
    await row
      .filter({ hasText: text })
      .last()
      .getByRole('button', { name: this.t.conversation.actions })
      .click()
    await this.choosesFromMenu(action)
  }

  /** Opens the menu of a conversation in the list, and chooses an action. */
  async doesWith(contact: string, action: string): Promise<void> {
    await this.conversationWith(contact).hover()
    await this.page
      .getByRole('list')
      .getByRole('button', { name: this.t.chats.actions(contact) })
      .click()
    await this.choosesFromMenu(action)
  }

  /** Chooses an action of the open menu. */
  async choosesFromMenu(action: string): Promise<void> {
    await this.page.getByRole('menuitem', { name: action, exact: true }).click()
  }

  /** Waits for words anywhere on the screen. */
  async reads(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  /** Waits until the list shows a conversation with these words: the last message, or what is unread. */
  async seesInList(contact: string, text: string): Promise<void> {
    await this.conversationWith(contact).filter({ hasText: text }).waitFor()
  }

  /** The conversation in the list. */
  conversationWith(contact: string): Locator {
    return this.page.getByRole('list').getByRole('link').filter({ hasText: contact }).first()
  }

  /** The heading of the list of conversations, which is there once an account is open. */
  get chats(): Locator {
    return this.page.getByRole('heading', { name: this.t.chats.title, exact: true })
  }

  /** The field to write in. */
  get field(): Locator {
    return this.page.getByRole('textbox', { name: this.t.conversation.write })
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
