// The focus is never lost: whatever is done by keyboard, something that is shown has it afterwards.
import { expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { Caller } from '../../client/test/call-people.ts'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { SCREENS } from './browser-person.ts'
import { callOf } from './call-window.ts'
import { callWorld } from './call-world.ts'
import { isFocusShown } from './focus-shown.ts'
import { keepNotices } from './told.ts'

const PASSPHRASE = 'seven quiet boats'
const world = callWorld()

/** Presses a key where a person has come to, and waits until something that is shown has the focus. */
async function uses(person: AppPerson, place: Locator, key = 'Enter'): Promise<void> {
  await place.focus()
  await place.press(key)
  await isKept(person)
}

/** Begins to use the keyboard. Waits for what the app loads then. */
async function usesKeyboard({ page }: AppPerson): Promise<void> {
  await page.keyboard.press('Tab')
  const part = await page.waitForFunction(
    () => performance.getEntriesByType('resource').find(({ name }) => name.includes('/keep-focus-'))?.name,
  )
  // It is evaluated once this resolves.
  await part.evaluate((address) => import(address ?? ''))
}

/** Waits until something that is shown has the focus. */
async function isKept(person: AppPerson): Promise<void> {
  await person.settles()
  await person.page.waitForFunction(isFocusShown)
}

/** Waits until this has the focus. */
async function isAt(place: Locator): Promise<void> {
  await place.and(place.page().locator(':focus')).waitFor()
}

test('in a conversation: deleting, undoing, selecting, answering, asking, closing', async () => {
  const [alice, bob, alias] = await world.withFriend('Alice', 'Bob')
  const { page, t } = alice
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true })
  const item = (name: string): Locator => page.getByRole('menuitem', { name, exact: true })
  const message = (text: string): Locator => page.getByRole('article').filter({ hasText: text })
  for (const text of ['One', 'Two', 'Three']) await bob.client.send(alias, text)
  await alice.seesInList('Bob', 'Three')
  await usesKeyboard(alice)
  await uses(alice, alice.conversationWith('Bob'))
  await isAt(alice.field)

  await keepNotices(page)
  await uses(alice, message('Two'))
  await uses(alice, item(t.conversation.removeHere))
  await isAt(message('Three'))
  await uses(alice, button(t.common.undo))
  await alice.sees('Two')
  await uses(alice, message('Three'))
  await uses(alice, item(t.conversation.removeHere))
  await isAt(message('Two'))

  await uses(alice, message('One'))
  await uses(alice, item(t.conversation.select))
  await uses(alice, page.getByRole('checkbox').first(), 'Space')
  await uses(alice, button(t.common.cancel))
  await isAt(message('One'))
  await uses(alice, button(t.chats.actions('Bob')).last())
  await uses(alice, item(t.chats.selectMessages))
  await uses(alice, page.getByRole('checkbox').first(), 'Escape')

  await uses(alice, message('Two'))
  await uses(alice, item(t.conversation.reply))
  await uses(alice, button(t.conversation.cancelReply))
  await isAt(alice.field)
  await alice.types('Four')
  await uses(alice, button(t.conversation.send))
  await isAt(alice.field)
  await alice.sees('Four')
  await uses(alice, message('Four'))
  await uses(alice, item(t.conversation.retract))
  await uses(alice, button(t.common.cancel))
  await isAt(message('Four'))

  await uses(alice, alice.field, 'Escape')
  await isAt(alice.conversationWith('Bob'))
  await uses(alice, button(t.chats.actions('Bob')))
  await uses(alice, item(t.chats.archive))
  await alice.reads(t.chats.archivedNow)
  await isKept(alice)
})

test('in lists and settings: a request, the small screen, theme and language, the lock', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob', { screen: 'phone' })
  const { page, t } = alice
  await usesKeyboard(alice)
  const alias = await alice.ownAlias()
  const strangers = await Promise.all(['Carl', 'Dana'].map((name) => Person.join(name, world.relay.url)))
  for (const { client } of strangers) await client.requestFriend(alias)
  await alice.goesTo('#/contacts')
  const accept = page.getByRole('button', { name: t.contacts.accept, exact: true })
  await accept.nth(1).waitFor()
  await uses(alice, accept.first())
  await accept.nth(1).waitFor({ state: 'detached' })
  await isAt(accept)
  await uses(alice, accept)
  await accept.waitFor({ state: 'detached' })
  await isKept(alice)

  await alice.goesTo('#/chats')
  await uses(alice, alice.conversationWith('Bob'))
  await alice.field.waitFor()
  await isKept(alice)
  await uses(alice, page.getByRole('link', { name: t.common.back }))
  await isAt(alice.conversationWith('Bob'))
  await page.setViewportSize(SCREENS.desktop)
  await uses(alice, alice.conversationWith('Bob'))
  await page.setViewportSize(SCREENS.phone)
  await isKept(alice)

  await alice.goesTo('#/settings/appearance')
  await uses(alice, page.getByRole('radio', { name: t.settings.themes.dark }), 'Space')
  await uses(alice, page.getByRole('radio', { name: 'العربية' }), 'Space')
  await page.locator('html[dir="rtl"]').waitFor()
  await isAt(page.getByRole('radio', { name: 'العربية' }))
  await uses(alice, page.getByRole('radio', { name: 'English' }), 'Space')
  await page.locator('html[dir="ltr"]').waitFor()
  await alice.setsPassphrase(PASSPHRASE)
  await uses(alice, page.getByRole('button', { name: t.settings.lockNow, exact: true }))
  const passphrase = page.getByLabel(t.lock.passphrase)
  await isAt(passphrase)
  await passphrase.fill('a wrong one')
  await uses(alice, passphrase)
  await alice.reads(t.errors.codes.WRONG_PASSPHRASE ?? '')
  await isKept(alice)
  await passphrase.fill(PASSPHRASE)
  await uses(alice, passphrase)
  await page.getByRole('heading', { name: t.lock.title }).waitFor({ state: 'detached' })
  await isKept(alice)
  for (const { client } of strangers) await client.close()
})

test('in calls: declining, calling, making the window small and large, hanging up', async () => {
  const account = await Person.join('Alice', world.relay.url)
  const bob = await Caller.join({ join: (name) => Person.join(name, world.relay.url) }, 'Bob')
  await account.befriend(bob.person)
  const phrase = await account.client.recoveryPhrase()
  await account.client.close()
  const alice = await world.recovered('Alice', phrase)
  const { calls } = alice.t
  await bob.person.client.send(account.alias, 'Hello')
  await alice.seesInList('Bob', 'Hello')
  await usesKeyboard(alice)
  await alice.opens('Bob')
  await bob.calls.call(account.alias)
  await uses(alice, callOf(alice).getByRole('button', { name: calls.reject, exact: true }))
  await callOf(alice).waitFor({ state: 'detached' })
  await isAt(alice.field)
  await bob.is('rejected')

  const call = alice.page.getByRole('button', { name: alice.t.conversation.voiceCall, exact: true })
  await uses(alice, call)
  await uses(alice, callOf(alice).getByRole('button', { name: calls.makeSmall }))
  await uses(alice, callOf(alice).getByRole('button', { name: calls.makeLarge }))
  await uses(alice, callOf(alice).getByRole('button', { name: calls.hangUp }))
  await callOf(alice).waitFor({ state: 'detached' })
  await isAt(call)
  expect(await callOf(alice).count()).toBe(0)
  await bob.person.client.close()
})
