// The central story by keyboard alone. Everything is found by its role and name in the accessibility tree.
import { afterAll, expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const others: Person[] = []
afterAll(async () => {
  for (const { client } of others) await client.close()
})

/** More presses of the tab key than any screen here has places. */
const MOST_TABS = 40

/** Presses the tab key until this has the focus, as it must within the screen. */
async function tabTo(person: AppPerson, target: Locator): Promise<void> {
  await target.waitFor()
  for (let pressed = 0; pressed <= MOST_TABS; pressed++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await person.page.keyboard.press('Tab')
  }
  throw new Error(`the tab key does not lead to ${target}`)
}

test('an account is made, somebody is added, and a conversation held by keyboard alone', async () => {
  const bob = await Person.join('Bob', world.relay.url)
  others.push(bob)
  const alice = await world.stranger('Alice')
  const { page, t } = alice
  const { keyboard } = page
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true })
  const link = (name: string): Locator => page.getByRole('link', { name, exact: true }).first()
  const textbox = (name: string): Locator => page.getByRole('textbox', { name, exact: true })
  const hasFocus = (target: Locator): Promise<boolean> =>
    target.evaluate((element) => element === document.activeElement)

  await tabTo(alice, button(t.welcome.create))
  await keyboard.press('Enter')
  await textbox(t.welcome.nicknameLabel).waitFor()
  expect(await hasFocus(textbox(t.welcome.nicknameLabel))).toBe(true)
  await keyboard.type('Alice')
  await keyboard.press('Enter')

  const heading = page.getByRole('heading', { name: t.welcome.phraseTitle })
  await heading.waitFor()
  expect(await hasFocus(heading)).toBe(true)
  const words = await page.getByRole('main').getByRole('listitem').allTextContents()
  await tabTo(alice, button(t.welcome.phraseWritten))
  await keyboard.press('Enter')
  await button(t.welcome.confirmDo).waitFor()
  const fields = await page.getByRole('textbox').all()
  expect(fields).toHaveLength(3)
  for (const [at, word] of words.entries()) {
    const field = textbox(t.welcome.confirmWord(at + 1))
    if (!(await field.isVisible())) continue
    await tabTo(alice, field)
    await keyboard.type(word)
  }
  await keyboard.press('Enter')

  await tabTo(alice, link(t.chats.addContact))
  await keyboard.press('Enter')
  await textbox(t.contacts.aliasLabel).waitFor()
  expect(await hasFocus(textbox(t.contacts.aliasLabel))).toBe(true)
  await keyboard.type(bob.alias)
  await keyboard.press('Enter')
  await tabTo(alice, button(t.contacts.request))
  await keyboard.press('Enter')
  const [request] = (await bob.heard.friend_request.length)
    ? bob.heard.friend_request
    : [await new Promise<{ friendship_id: number }>((resolve) => bob.client.on('friend_request', resolve))]
  if (!request) throw new Error('no request came')
  await bob.client.acceptFriend(request.friendship_id)

  await tabTo(alice, link(t.common.chats))
  await keyboard.press('Enter')
  await tabTo(alice, alice.conversationWith('Bob'))
  await keyboard.press('Enter')
  await tabTo(alice, textbox(t.conversation.write))
  await keyboard.type('Without a mouse')
  await keyboard.press('Enter')
  await bob.receives('Without a mouse')
  const alias = (await bob.client.conversations())[0]?.contactId ?? ''
  await bob.client.send(alias, 'I can tell')
  await page.getByRole('article').filter({ hasText: 'I can tell' }).waitFor()

  // Escape closes the conversation, and the list is there.
  await keyboard.press('Escape')
  await textbox(t.conversation.write).waitFor({ state: 'detached' })
  await tabTo(alice, alice.conversationWith('Bob'))
})
