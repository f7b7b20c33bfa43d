// Stories of finding one's way: the list of conversations, search, links, the keyboard.
import { expect, test } from 'bun:test'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** The text of the focused element. */
const focused = (person: AppPerson): Promise<string> =>
  person.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')

test('a search finds messages and opens them in their place', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  await bob.client.send(toAlice, 'Oolong is in the pot')
  for (let at = 1; at <= 150; at++) await bob.client.send(toAlice, `message ${at}.`)
  await alice.seesInList('Bob', 'message 150.')
  await alice.page.keyboard.press('Control+k')
  const field = alice.page.getByRole('textbox', { name: alice.t.search.field })
  await until('the field has the focus', async () => (await focused(alice)) === alice.t.search.field)
  await alice.page.keyboard.type('oolo')
  const found = alice.page.getByRole('link').filter({ hasText: 'Oolong is in the pot' })
  // On a busy machine, what was typed first is sought first.
  await found.locator('mark').getByText('Oolo', { exact: true }).waitFor()
  await found.click()
  await until('it has the focus', async () => (await focused(alice)).includes('Oolong'))
  await field.fill('nothing like it')
  await alice.reads(alice.t.search.nothing)
})

test('a link that leads elsewhere is shown before it is opened', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  await bob.client.send(toAlice, 'See https://good.example@evil.example/')
  await alice.opens('Bob')
  await alice.page.getByRole('article').getByRole('link', { name: 'good.example' }).click()
  const dialog = alice.page.getByRole('dialog')
  await dialog.getByText('https://good.example@evil.example/').first().waitFor()
  await dialog.getByRole('button', { name: alice.t.common.cancel }).click()
  expect(alice.context.pages()).toHaveLength(1)
})

test('conversations are pinned, muted, marked and archived', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.chats
  await bob.client.send(toAlice, 'hello')
  await alice.seesInList('Bob', 'hello')
  await alice.doesWith('Bob', t.pin)
  await alice.seesInList('Bob', t.pinned)
  await alice.doesWith('Bob', t.muteHours)
  await alice.seesInList('Bob', t.muted)
  await alice.doesWith('Bob', t.markRead)
  await alice.doesWith('Bob', t.markUnread)
  await alice.seesInList('Bob', t.markedUnread)
  await alice.doesWith('Bob', t.archive)
  await alice.follows(t.archivedCount(1))
  await alice.opens('Bob')
  await alice.doesWith('Bob', t.unarchive)
  await alice.reads(t.archiveEmpty)
  await alice.follows(t.toChats)
  await alice.seesInList('Bob', 'hello')
})

test('the keyboard goes from conversation to conversation, and lists what it can', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.conversationWith('Bob').waitFor()
  await alice.page.keyboard.press('Alt+ArrowDown')
  await alice.field.waitFor()
  await alice.types('so :fire')
  await alice.page.getByRole('option', { name: 'fire' }).waitFor()
  await alice.field.press('Enter')
  await alice.finds('so 🔥')
  await alice.field.press('Shift+Enter')
  await alice.page.keyboard.type('two')
  await alice.finds('so 🔥\ntwo')
  await alice.page.keyboard.press('Escape')
  await until('the row has the focus', () =>
    alice.page.evaluate(() => document.activeElement?.closest('li')?.textContent?.includes('Bob') ?? false),
  )
  await alice.page.keyboard.press('?')
  await alice.page.getByRole('dialog', { name: alice.t.shortcuts.title }).waitFor()
  await alice.page.keyboard.press('Escape')
  await alice.chats.waitFor()
})

test('a long message is cut at its end, also if it runs against the direction of the app', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob', { language: 'ar', screen: 'phone' })
  const words = 'It begins here, and it is longer than any list is wide, so that its end is not to be seen'
  await bob.client.send(toAlice, words)
  await alice.seesInList('Bob', words)
  const isInView = (at: number): Promise<boolean> =>
    alice
      .conversationWith('Bob')
      .getByText(words)
      .evaluate((element, at) => {
        const range = document.createRange()
        const text = element.firstChild ?? element
        range.setStart(text, at)
        range.setEnd(text, at + 1)
        const letter = range.getBoundingClientRect()
        const line = (element.parentElement ?? element).getBoundingClientRect()
        return letter.left >= line.left && letter.right <= line.right
      }, at)
  expect([await isInView(0), await isInView(words.length - 1)]).toEqual([true, false])
})
