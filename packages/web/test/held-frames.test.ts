// What is seen can be used at once: keys that are pressed before the next frame reach it. Parts of the app
// are loaded after a frame, so each test has them loaded before.
import { test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { withoutFrames } from './held-frames.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** Waits until this has the focus. */
async function hasFocus(place: Locator): Promise<void> {
  await place.and(place.page().locator(':focus')).waitFor()
}

test('Enter takes the emoji that is offered, as soon as it is', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const { page, field } = alice
  const fire = page.getByRole('option', { name: 'fire' })
  await alice.opens('Bob')
  await alice.types(':fire')
  await fire.waitFor()
  await alice.types('')
  await fire.waitFor({ state: 'detached' })
  await alice.settles()

  await withoutFrames(page, async () => {
    await alice.types('so :fire')
    await fire.waitFor()
    await field.press('Enter')
    await alice.finds('so 🔥')
  })
})

test('in a conversation that opens, what is typed is in its field, and Escape ends what was begun last', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const { page, field, t } = alice
  await bob.client.send(toAlice, 'Shall we?')
  const answered = page.locator('form').filter({ hasText: 'Shall we?' })
  await alice.opens('Bob')
  await alice.does(t.conversation.reply, 'Shall we?')
  await answered.waitFor()
  await page.keyboard.press('Escape')
  await answered.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  await alice.settles()

  await withoutFrames(page, async () => {
    await alice.opens('Bob')
    await page.keyboard.type('We')
    await alice.finds('We')
    await alice.does(t.conversation.reply, 'Shall we?')
    await answered.waitFor()
    await page.keyboard.type(' shall.')
    await alice.finds('We shall.')
    await page.keyboard.press('Escape')
    await answered.waitFor({ state: 'detached' })
    await field.waitFor()
  })
})

test('a dialog has the focus and is closed by Escape, and Escape on a screen leads to its list', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const { page, t } = alice
  await bob.client.send(toAlice, 'Good night')
  const details = page.getByRole('dialog', { name: t.conversation.details })
  const me = page.getByRole('heading', { name: t.contacts.myAlias, exact: true })
  await alice.goesTo('#/contacts/me')
  await me.waitFor()
  await alice.follows(t.common.chats)
  await alice.opens('Bob')
  await alice.does(t.conversation.details, 'Good night')
  await details.waitFor()
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'detached' })
  await alice.settles()

  await withoutFrames(page, async () => {
    await alice.does(t.conversation.details, 'Good night')
    await details.waitFor()
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    await alice.follows(t.common.contacts)
    await page.getByRole('link').filter({ hasText: t.contacts.myAlias }).click()
    await me.waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/#\/contacts$/)
  })
})

test('a search begins with what is typed, and the arrows count each press', async () => {
  const people = ['Bob', 'Carol', 'Dora', 'Emil'] as const
  const { person: alice } = await world.withFriends('Alice', ...people)
  const { page, t } = alice
  const field = page.getByRole('textbox', { name: t.search.field })
  for (const name of people) await alice.conversationWith(name).waitFor()
  await page.keyboard.press('Control+k')
  await field.waitFor()
  await alice.goesTo('#/chats')

  await withoutFrames(page, async () => {
    const rows = page
      .getByRole('list')
      .getByRole('link')
      .filter({ hasText: /Bob|Carol|Dora|Emil/ })
    await rows.first().focus()
    for (let pressed = 0; pressed < 3; pressed++) await page.keyboard.press('ArrowDown')
    await hasFocus(rows.nth(3))
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type('night')
    await alice.finds('night', field)
  })
})
