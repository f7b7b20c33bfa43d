// A person at a browser of another engine than Chromium's: what they do and see in the app, in their words.
import { until } from '../../../client/test/people.ts'
import { english as en } from '../all-texts.ts'
import { type Control, PATIENCE_MS, type Tab } from './tab.ts'

/** Resolves with what `look` finds, as soon as a change of the page, or a picture, lets it. */
const ONCE = `(look) => new Promise((resolve) => {
  const check = () => {
    const found = look()
    if (!found) return
    observer.disconnect()
    document.removeEventListener('load', check, true)
    resolve(found)
  }
  const observer = new MutationObserver(check)
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  document.addEventListener('load', check, true)
  check()
})`

/** The visible elements of a kind with a name: what is written on them, or on their label. */
const NAMED = `(kind, name) => [...document.querySelectorAll(kind)].filter((element) =>
  element.checkVisibility() &&
  [element.ariaLabel, element.labels?.[0]?.innerText, element.innerText].some((said) => said?.trim() === name))`

/** A person, and the tab they look at. */
export class Visitor {
  readonly name: string
  readonly tab: Tab

  constructor(name: string, tab: Tab) {
    this.name = name
    this.tab = tab
  }

  /** Makes an account. Returns the recovery phrase. */
  async registers(): Promise<string> {
    const t = en.welcome
    await this.presses(t.create)
    await this.types(t.nicknameLabel, `${this.name}\n`)
    const words = `[...document.querySelectorAll('main li')].map((word) => word.textContent)`
    await this.#once(`${words}.length === 12`)
    const phrase = Object.values(Object(await this.tab.compute(words))).map(String)
    await this.presses(t.phraseWritten)
    await this.reads(t.confirmTitle)
    for (const [at, word] of phrase.entries()) {
      const label = t.confirmWord(at + 1)
      if (await this.tab.compute(`(${NAMED})('input', ${quoted(label)}).length > 0`))
        await this.types(label, word)
    }
    await this.presses(t.confirmDo)
    await this.reads(en.chats.empty)
    return phrase.join(' ')
  }

  /** Recovers an account with its phrase. */
  async recovers(phrase: string): Promise<void> {
    await this.presses(en.welcome.recover)
    await this.types(en.welcome.phraseLabel, phrase)
    await this.presses(en.welcome.recoverDo)
    await this.reads(en.chats.title)
  }

  /** Sends a friend request to an alias. */
  async asksForFriendship(alias: string): Promise<void> {
    const t = en.contacts
    await this.follows(en.common.contacts)
    await this.follows(t.add)
    await this.types(t.aliasLabel, `${alias}\n`)
    await this.presses(t.request)
  }

  /** Opens the conversation with somebody, from the list. */
  async opens(contact: string): Promise<void> {
    await this.follows(en.common.chats)
    // WebKit goes there after the click. Until then, a click on the conversation that is open does nothing.
    await this.#once(`location.hash === '#/chats'`)
    await this.#does(
      `[...document.querySelectorAll('main a')].find((link) => link.innerText.includes(${quoted(contact)}))`,
      (link) => link.click(),
    )
  }

  /** Writes a message in the open conversation and sends it. */
  async writes(text: string): Promise<void> {
    await this.types(en.conversation.write, `${text}\n`)
    await this.sees(text)
  }

  /** Sends a picture in the open conversation. */
  async sendsPicture(path: string): Promise<void> {
    await this.#does(
      `document.querySelector('input[type=file][aria-label=${quoted(en.media.pictures)}]')`,
      (input) => input.choose(path),
    )
    await this.presses(en.media.send)
  }

  /** Waits until the open conversation shows a message, and this mark at it. */
  async sees(text: string, mark?: keyof typeof en.conversation.marks): Promise<void> {
    await this.#once(`[...document.querySelectorAll('article')].some((message) =>
      message.innerText.includes(${quoted(text)}) &&
      message.ariaLabel.endsWith(${quoted(mark ? en.conversation.marks[mark] : '')}))`)
  }

  /** Waits until the open conversation shows a picture. */
  async seesPicture(): Promise<void> {
    await this.#once(
      `[...document.querySelectorAll('article button img')].some((image) => image.naturalWidth > 0)`,
    )
  }

  /** Waits for words anywhere on the screen. */
  async reads(text: string | RegExp): Promise<void> {
    const isThere = typeof text === 'string' ? `includes(${quoted(text)})` : `search(${text}) >= 0`
    await this.#once(`document.body.innerText.${isThere}`)
  }

  /** Presses the button with this name. */
  async presses(name: string): Promise<void> {
    await this.#does(`(${NAMED})('button', ${quoted(name)})[0]`, (button) => button.click())
  }

  /** Follows the link with this name. */
  async follows(name: string): Promise<void> {
    await this.#does(`(${NAMED})('a', ${quoted(name)})[0]`, (link) => link.click())
  }

  /** Types into the field with this label. */
  async types(label: string, text: string): Promise<void> {
    await this.#does(`(${NAMED})('input, textarea', ${quoted(label)})[0]`, (field) => field.type(text))
  }

  /** Waits until an expression is true in the page. */
  async #once(expression: string): Promise<void> {
    await this.#explained(this.tab.compute(`(${ONCE})(() => !!(${expression}))`))
  }

  /** Does something with the element of an expression, once it is there and nothing covers it. */
  async #does(element: string, act: (control: Control) => Promise<void>): Promise<void> {
    const control = await this.#explained(this.tab.find(`(${ONCE})(() => ${element})`))
    let refused: unknown
    const tries = (): Promise<boolean> =>
      act(control).then(
        () => true,
        (error) => {
          refused = error
          return false
        },
      )
    await until(element, tries, PATIENCE_MS).catch((error) => {
      throw new Error(`${error}\n${refused}`)
    })
  }

  /** What was waited for. @throws Error with the text on the screen if it fails */
  async #explained<T>(awaited: Promise<T>): Promise<T> {
    try {
      return await awaited
    } catch (error) {
      const shown = await this.tab
        .compute('document.body.innerText')
        .catch((silent) => `nothing that can be read: ${silent}`)
      throw new Error(`${this.name}: ${error}\nThe screen shows:\n${shown}`)
    }
  }
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
