// Stories of what people do with messages.
import { expect, test } from 'bun:test'
import { Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { isTold, keepNotices } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

/** The text of the focused element. */
const focused = (person: AppPerson): Promise<string> =>
  person.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')

test('a long conversation opens at the first unread message, and leads to its end and to what was answered', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  const sent = []
  for (let at = 1; at <= 300; at++) sent.push(await bob.client.send(toAlice, `message ${at}.`))
  await bob.client.send(toAlice, 'the answer', { replyToId: sent[4]?.id ?? '' })
  await alice.seesInList('Bob', alice.t.common.unread(301))
  await alice.opens('Bob')
  await alice.reads(t.unreadLine)
  await alice.sees('message 1.')
  // Only what can be seen is drawn, and each says where it is.
  expect(await alice.page.getByRole('article').count()).toBeLessThan(40)
  const item = alice.page.getByRole('listitem').filter({ hasText: 'message 2.' })
  expect(await item.getAttribute('aria-posinset')).toBe('2')
  expect(await item.getAttribute('aria-setsize')).toBe('301')

  await alice.presses(t.toEnd)
  const answer = await alice.sees('the answer')
  await until(
    'nothing is unread',
    async () => !(await alice.conversationWith('Bob').innerText()).includes('301'),
  )
  await answer.getByRole('button', { name: 'message 5.' }).click()
  await alice.sees('message 5.')
  await until('it has the focus', async () => (await focused(alice)).includes('message 5.'))
  await alice.page.keyboard.press('ArrowDown')
  await until('the next one has the focus', async () => (await focused(alice)).includes('message 6.'))

  await bob.client.send(toAlice, 'while she looks back')
  // Exactly: what is announced contains it, too.
  await alice.page.getByText(t.newMessages(1), { exact: true }).waitFor()
  await alice.page.keyboard.press('End')
  await until('the last one has the focus', async () =>
    (await focused(alice)).includes('while she looks back'),
  )
  await alice.page.keyboard.press('Home')
  await until('the first one has the focus', async () => (await focused(alice)).includes('message 1.'))
})

test('a message is deleted here, which can be undone, and one is retracted', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  await bob.client.send(toAlice, 'keep this')
  await bob.client.send(toAlice, 'not this')
  await alice.opens('Bob')
  await keepNotices(alice.page)
  await alice.does(t.removeHere, 'keep this')
  await alice.page.getByRole('article').filter({ hasText: 'keep this' }).waitFor({ state: 'detached' })
  await alice.presses(alice.t.common.undo)
  await alice.sees('keep this')
  // From here on it is deleted when its time is over.
  await alice.reloads()
  await alice.does(t.removeHere, 'not this')
  // The list shows what is left once it is deleted in the store.
  await alice.seesInList('Bob', 'keep this')
  await alice.reloads()
  await alice.sees('keep this')
  expect(await alice.page.getByRole('article').count()).toBe(1)

  await alice.writes('a mistake')
  await bob.receives('a mistake')
  await alice.does(t.retract, 'a mistake')
  await alice.presses(t.retract)
  await alice.sees(t.retracted)
  await until('Bob has not got it any more', async () =>
    (await bob.client.messages(toAlice)).some(({ retracted }) => retracted),
  )
})

test('messages are answered, selected, copied and forwarded', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const carol = await Person.join('Carol', world.relay.url)
  const t = alice.t.conversation
  await carol.client.requestFriend(toAlice)
  await bob.client.send(toAlice, 'one')
  await bob.client.send(toAlice, 'two')
  await alice.opens('Bob')
  await alice.does(t.reply, 'one')
  await alice.writes('the answer')
  await bob.receives('the answer')
  const received = (await bob.client.messages(toAlice)).at(-1)
  expect(received?.replyToId).toBe((await bob.client.messages(toAlice))[0]?.id)

  await alice.does(t.select, 'two')
  await alice.page.getByRole('checkbox', { name: t.select }).first().check()
  await alice.reads(t.selected(2))
  await alice.presses(alice.t.common.copy)
  await isTold(alice, alice.t.common.copied)
  expect(await alice.page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^\[[^\]]+\] Bob: one\n\[[^\]]+\] Bob: two$/,
  )

  await alice.does(t.forward, 'two')
  await alice.page.getByRole('dialog').getByRole('checkbox', { name: 'Bob' }).check()
  await alice.page.getByRole('dialog').getByRole('button', { name: t.forward }).click()
  await bob.receives('two')
})

test('what could not be sent says why, and is dropped', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.conversation
  await alice.opens('Bob')
  await alice.goesOffline()
  await alice.writes('too late')
  const [friend] = await bob.client.syncFriends()
  await bob.client.removeFriend(friend?.friendship_id ?? 0)
  await alice.goesOnline()
  await alice.sees('too late', { mark: 'failed' })
  await alice.reads(alice.t.errors.codes.NOT_FRIENDS ?? '')
  await alice.does(t.drop, 'too late')
  await alice.page.getByRole('article').filter({ hasText: 'too late' }).waitFor({ state: 'detached' })
  await bob.client
    .send(toAlice, 'never arrives')
    .catch((error: unknown) => expect(error).toBeInstanceOf(Error))
})
