// Stories of what is being written: it stays, whatever happens to the page, and says when it is too long.
import { expect, test } from 'bun:test'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

/** The tab ends without a moment for anything. */
async function crashes(person: AppPerson): Promise<void> {
  person.expects(/the tab crashed/)
  const { page } = person
  const tab = await person.context.newCDPSession(page)
  const crashed = page.waitForEvent('crash')
  // The tab that crashes does not answer.
  void tab.send('Page.crash').catch(() => {})
  await crashed
  await page.close()
}

test('what is being written, and what it answers, survives a crash', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  await bob.client.send(toAlice, 'Shall we?')
  await bob.client.send(toAlice, 'Or not?')
  await alice.opens('Bob')
  await alice.sees('Or not?')
  const quoted = () => alice.page.locator('form').getByText('Shall we?').waitFor()
  // The keys of the empty field: one message up, another one up.
  await alice.field.press('Control+ArrowUp')
  await alice.page.locator('form').getByText('Or not?').waitFor()
  await alice.field.press('ArrowUp')
  await quoted()
  await alice.types('Let me thi')
  await alice.seesInList('Bob', 'Let me thi')
  await crashes(alice)

  await alice.comes()
  await alice.opens('Bob')
  await quoted()
  await alice.finds('Let me thi')
  await alice.writes('Let me think.')
  await bob.receives('Let me think.')
  const received = await bob.client.messages(toAlice)
  expect(received.at(-1)?.replyToId).toBe(received[0]?.id)

  // What was sent is no draft any more.
  await alice.seesInList('Bob', `${alice.t.chats.you} Let me think.`)
  await alice.reloads()
  await alice.sees('Let me think.')
  await alice.finds('')
  expect(await alice.page.getByRole('button', { name: t.cancelReply }).count()).toBe(0)
  await bob.client.close()
})

test('a message that is too long says by how much, and is not sent before it is shorter', async () => {
  const [alice, bob] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  await alice.opens('Bob')
  await alice.types('x'.repeat(49_100))
  await alice.reads(t.roomLeft('24'))
  await alice.types('x'.repeat(49_130))
  await alice.reads(t.tooLong('6'))
  await alice.field.press('Enter')
  expect(await alice.page.getByRole('button', { name: t.send, exact: true }).isDisabled()).toBe(true)
  await alice.types('y'.repeat(49_124))
  await alice.reads(t.roomLeft('0'))
  await alice.field.press('Enter')
  await bob.receives('y'.repeat(49_124))
  await bob.client.close()
})

test('a post that is being written survives a reload and the lock, and is gone once it is posted', async () => {
  const anna = await world.joins('Anna')
  const t = anna.t.channels
  await anna.waitsUntilKept()
  await anna.goesTo('#/channels/new')
  await anna.page.getByLabel(t.name, { exact: true }).fill('Kettles')
  await anna.presses(t.create)
  const field = anna.page.getByLabel(t.newPost)
  await field.fill('# Half of it')
  const place = await anna.page.evaluate(() => location.hash)
  await anna.reloads()
  await anna.finds('# Half of it', field)

  await field.fill('# Half of it, and more')
  await anna.setsPassphrase('several words drawn by lot')
  await anna.locks()
  await anna.unlocks('several words drawn by lot')
  await anna.goesTo(place)
  await anna.finds('# Half of it, and more', field)

  await anna.presses(t.post)
  await anna.sees('Half of it, and more')
  await anna.finds('', field)
  await anna.goesTo('#/channels')
  await anna.goesTo(place)
  await anna.sees('Half of it, and more')
  expect(await field.inputValue()).toBe('')
})
