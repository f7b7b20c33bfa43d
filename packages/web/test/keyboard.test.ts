// The central story by keyboard alone. Whatever is used is reached by the tab key and recognised by its role
// and name in the browser's accessibility tree, as by somebody who sees nothing.
import { afterAll, expect, test } from 'bun:test'
import { Person, until } from '../../client/test/people.ts'
import { AccessibilityTree } from './accessibility-tree.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const others: Person[] = []
afterAll(async () => {
  for (const { client } of others) await client.close()
})

/** More presses of the tab key than any screen here has places. */
const MOST_TABS = 40

/** One pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A person who has no mouse and sees nothing. */
class Listener {
  readonly person: AppPerson
  readonly #tree: AccessibilityTree

  private constructor(person: AppPerson, tree: AccessibilityTree) {
    this.person = person
    this.#tree = tree
  }

  static async of(person: AppPerson): Promise<Listener> {
    return new Listener(person, await AccessibilityTree.of(person.page))
  }

  press(key: string): Promise<void> {
    return this.person.page.keyboard.press(key)
  }

  type(text: string): Promise<void> {
    return this.person.page.keyboard.type(text)
  }

  /** Waits until something with this role, and a name that begins so, can be read. */
  hears(role: string, name: string): Promise<boolean> {
    return until(`${role} ${name}`, async () =>
      (await this.#tree.nodes()).some((node) => node.role === role && node.name.startsWith(name)),
    )
  }

  /** Waits until the focus is on it. */
  isAt(role: string, name: string): Promise<boolean> {
    return until(`the focus on ${role} ${name}`, () => this.#isAt(role, name))
  }

  /** Presses the tab key until this has the focus, as it must within the screen. */
  async goesTo(role: string, name: string): Promise<void> {
    await this.hears(role, name)
    for (let pressed = 0; pressed <= MOST_TABS; pressed++) {
      if (await this.#isAt(role, name)) return
      await this.press('Tab')
    }
    throw new Error(`the tab key does not lead to ${role} ${name}`)
  }

  async uses(role: string, name: string): Promise<void> {
    await this.goesTo(role, name)
    await this.press('Enter')
  }

  async #isAt(role: string, name: string): Promise<boolean> {
    const focused = await this.#tree.focused()
    return focused.role === role && focused.name.startsWith(name)
  }
}

test('the central story by keyboard and accessibility tree: register, befriend, talk, picture, reload, recover', async () => {
  const bob = await Person.join('Bob', world.relay.url)
  others.push(bob)
  const person = await world.stranger('Alice')
  const { t } = person
  let alice = await Listener.of(person)

  await alice.uses('button', t.welcome.create)
  await alice.isAt('textbox', t.welcome.nicknameLabel)
  await alice.type('Alice')
  await alice.press('Enter')
  await alice.isAt('heading', t.welcome.phraseTitle)
  const words = await person.page.getByRole('main').getByRole('listitem').allTextContents()
  await alice.uses('button', t.welcome.phraseWritten)
  await alice.hears('button', t.welcome.confirmDo)
  for (const [at, word] of words.entries()) {
    const name = t.welcome.confirmWord(at + 1)
    if (!(await person.page.getByRole('textbox', { name, exact: true }).isVisible())) continue
    await alice.goesTo('textbox', name)
    await alice.type(word)
  }
  await alice.press('Enter')

  await alice.uses('link', t.chats.addContact)
  await alice.isAt('textbox', t.contacts.aliasLabel)
  await alice.type(bob.alias)
  await alice.press('Enter')
  await alice.uses('button', t.contacts.request)
  const request = await until('Bob gets the request', () => bob.heard.friend_request[0])
  await bob.client.acceptFriend(request.friendship_id)

  await alice.uses('link', t.common.chats)
  await alice.uses('link', 'Bob')
  await alice.goesTo('textbox', t.conversation.write)
  await alice.type('Without a mouse')
  await alice.press('Enter')
  await bob.receives('Without a mouse')
  const [{ contactId: alias } = { contactId: '' }] = await bob.client.conversations()
  await bob.client.send(alias, 'I can tell')
  await alice.hears('StaticText', 'I can tell')
  await alice.isAt('textbox', t.conversation.write)

  // Before the menu is opened: the browser takes a moment to leave the dialog for files to the test.
  const choosing = person.page.waitForEvent('filechooser')
  await alice.uses('button', t.conversation.attach)
  await alice.isAt('menuitem', t.media.pictures)
  await alice.press('Enter')
  await (await choosing).setFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PICTURE })
  await alice.hears('dialog', '')
  await alice.uses('button', t.media.send)
  await until('Bob gets the picture', async () => (await bob.client.messages(alias)).length === 3)
  await alice.uses('button', t.media.openPicture)
  await alice.hears('dialog', '')
  await alice.press('Escape')
  await alice.isAt('button', t.media.openPicture)

  await person.page.reload()
  alice = await Listener.of(person)
  await alice.hears('StaticText', 'I can tell')
  // Escape closes the conversation, and the list is there.
  await alice.goesTo('textbox', t.conversation.write)
  await alice.press('Escape')
  await alice.goesTo('link', 'Bob')

  const again = await world.stranger('Alice')
  const anew = await Listener.of(again)
  await anew.uses('button', t.welcome.recover)
  await anew.isAt('textbox', t.welcome.phraseLabel)
  await anew.type(words.join(' '))
  await anew.uses('button', t.welcome.recoverDo)
  await anew.uses('link', 'Bob')
  await anew.goesTo('textbox', t.conversation.write)
  await anew.type('I am back')
  await anew.press('Enter')
  await bob.receives('I am back')
  expect(bob.heard.message.map(({ text }) => text)).toContain('I am back')
})
