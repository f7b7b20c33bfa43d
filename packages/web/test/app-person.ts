// A person with the app: what they do and see in it, in their own words.
import type { Locator } from 'playwright-core'
import { until } from '../../client/test/people.ts'
import type { AllTexts } from './all-texts.ts'
import { BrowserPerson } from './browser-person.ts'

/** A file on the person's device. */
export interface GivenFile {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

type Mark = keyof AllTexts['conversation']['marks']

/** A person who uses the app. */
export class AppPerson extends BrowserPerson {
  /** Opens the app in a new tab, which is the one that is looked at from now on. */
  async comes(): Promise<void> {
    await this.opensTab()
    const goOn = this.page.getByRole('button', { name: this.t.welcome.goOn, exact: true })
    await goOn
      .or(this.page.getByRole('button', { name: this.t.welcome.create }))
      .or(this.chats)
      .first()
      .waitFor()
    if (await goOn.isVisible()) await goOn.click()
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

  /** Opens the security code of a contact, by the contact's page. Returns the code. */
  async opensCode(contact: string): Promise<string> {
    await this.goesTo('#/contacts')
    await this.conversationWith(contact).click()
    await this.follows(this.t.trust.title)
    return this.readsCode()
  }

  /** The security code on the screen, in groups of four. */
  async readsCode(): Promise<string> {
    const code = await this.page.locator('.contacts-code').innerText()
    return code.replaceAll(/\s+/g, ' ').trim()
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

  /** Chooses, behind the passphrase, after how many minutes without use the app locks. */
  async locksAfter(minutes: number, passphrase: string): Promise<void> {
    const t = this.t.settings
    await this.goesTo('#/settings/lock')
    await this.page.getByLabel(t.passphrase, { exact: true }).fill(passphrase)
    await this.presses(t.passphraseContinue)
    await this.page.getByRole('radio', { name: t.lockMinutes(minutes), exact: true }).check()
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

  /** Chooses files to send, from the menu of the button that attaches. */
  async attaches(...files: readonly GivenFile[]): Promise<void> {
    const choosing = this.page.waitForEvent('filechooser')
    await this.presses(this.t.conversation.attach)
    await this.choosesFromMenu(this.t.media.files)
    await (await choosing).setFiles([...files])
  }

  /** Presses a button for as long as it is there, until a text is gone, which may also go by itself. */
  async pressesUntilGone(name: string, text: string): Promise<void> {
    await until(`${text} is gone`, async () => {
      await this.page.evaluate((name) => {
        for (const button of document.querySelectorAll('button'))
          if (button.textContent === name) button.click()
      }, name)
      return (await this.page.getByText(text).count()) === 0
    })
  }

  /** Waits until the field to write in, or another one, has this text. */
  async finds(text: string, field: Locator = this.field): Promise<void> {
    await until(`${this.name} finds ${text}`, async () => (await field.inputValue()) === text)
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
    await this.opensMenuOf(text)
    await this.choosesFromMenu(action)
  }

  /** Opens the menu of a message in the open conversation. */
  async opensMenuOf(text: string): Promise<void> {
    const message = await this.sees(text)
    await message.hover()
    const row = this.page.getByRole('listitem').filter({ has: this.page.getByRole('article') })
    await row
      .filter({ hasText: text })
      .last()
      .getByRole('button', { name: this.t.conversation.actions })
      .click()
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
}
