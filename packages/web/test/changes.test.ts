// Stories of what is changed of messages that were sent: reactions of both sides, and edits. The friend has
// another program, which also does what no app does.
import { afterEach, expect, test } from 'bun:test'
import { type ClientError, Edits, Reactions, type StoredMessage } from '@sotto/client'
import type { Locator } from 'playwright-core'
import { sendContent } from '../../client/test/forward-people.ts'
import { type Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { secretFriends } from './secret-friend.ts'
import { isTold, keepNotices } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const friends: Person[] = []
afterEach(async () => {
  for (const { client } of friends.splice(0)) await client.close()
})

/** Alice has the app, and Bob another program. They have opened their conversation. */
async function aliceAndBob(): Promise<readonly [AppPerson, Person, string]> {
  const { person, friend, alias } = await secretFriends(world, 'Alice', 'Bob')
  friends.push(friend)
  return [person, friend, alias]
}

/** Waits until a friend's copy of a message is so. */
function has(
  friend: Person,
  contact: string,
  id: string,
  is: (message: StoredMessage) => boolean,
): Promise<StoredMessage> {
  return until('the friend has it', async () =>
    (await friend.client.messages(contact)).find((message) => message.id === id && is(message)),
  )
}

/** Whether somebody else's reaction to a message is this one; `undefined` for one that was taken back. */
function isReacted(emoji: string | undefined): (message: StoredMessage) => boolean {
  return ({ reactions }) => {
    const theirs = reactions?.find(({ isMe }) => !isMe)
    return theirs !== undefined && theirs.text === emoji
  }
}

/** The reaction under a message. */
async function reactionAt(person: AppPerson, text: string, label: string): Promise<Locator> {
  return (await person.sees(text)).getByRole('button', { name: label, exact: true })
}

test('reactions of both sides are seen, changed and taken back, also in another tab and after a reload', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { changes, conversation: t } = alice.t
  const { id } = await bob.client.send(toAlice, 'I got the job')
  const reacts = async (name: string): Promise<void> => {
    await alice.opensMenuOf('I got the job')
    await alice.page.getByRole('menuitemradio', { name, exact: true }).click()
  }
  await reacts(changes.quick['👍'] ?? '')
  await has(bob, toAlice, id, isReacted('👍'))
  const own = await reactionAt(alice, 'I got the job', t.reaction('👍', t.you))
  expect(await own.getAttribute('aria-pressed')).toBe('true')

  // Another one takes its place, by keys: from the first action up to the reactions, and to the second.
  const { keyboard } = alice.page
  await (await alice.sees('I got the job')).press('Enter')
  await alice.page.getByRole('menuitem', { name: t.reply }).waitFor()
  for (const key of ['ArrowUp', 'ArrowRight', 'Enter']) await keyboard.press(key)
  await has(bob, toAlice, id, isReacted('❤️'))
  await own.waitFor({ state: 'detached' })

  // Bob has the same, and then another one.
  const message = { conversationId: (await bob.client.conversation(toAlice)).conversationId, isMe: true, id }
  const reactions = new Reactions(bob.client)
  await reactions.react(message, '❤️')
  await (await reactionAt(alice, 'I got the job', t.reaction('❤️ 2', `${t.you} and Bob`))).waitFor()
  await reactions.react(message, '🎉')
  const theirs = await reactionAt(alice, 'I got the job', t.reaction('🎉', 'Bob'))
  expect(await theirs.getAttribute('aria-pressed')).toBe('false')
  const article = await alice.sees('I got the job')
  expect(await article.getAttribute('aria-label')).toContain(`, ${t.reaction('🎉', 'Bob')}`)

  const first = alice.page
  await alice.comes()
  await alice.opens('Bob')
  const again = await reactionAt(alice, 'I got the job', t.reaction('❤️', t.you))
  await again.waitFor()
  alice.looksAt(first)
  await alice.reloads()
  // A press takes it back, and the other tab sees it.
  await (await reactionAt(alice, 'I got the job', t.reaction('❤️', t.you))).click()
  await has(bob, toAlice, id, isReacted(undefined))
  await again.waitFor({ state: 'detached' })

  // A press of Bob's joins it.
  await (await reactionAt(alice, 'I got the job', t.reaction('🎉', 'Bob'))).click()
  await has(bob, toAlice, id, isReacted('🎉'))
})

test('any emoji can be found by its name or entered, and nothing else is a reaction', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { changes, conversation: t } = alice.t
  const { id } = await bob.client.send(toAlice, 'Shall we fly?')
  const dialog = alice.page.getByRole('dialog')
  const field = dialog.getByLabel(changes.emojiOrName)
  await alice.does(changes.otherEmoji, 'Shall we fly?')
  await field.fill('rocket')
  await dialog.getByRole('button', { name: 'rocket', exact: true }).click()
  await has(bob, toAlice, id, isReacted('🚀'))
  await dialog.waitFor({ state: 'detached' })

  await alice.does(changes.otherEmoji, 'Shall we fly?')
  for (const wrong of ['rocket', '👍👍', '<b>', '7', '\u202e']) {
    await field.fill('')
    await field.fill(wrong)
    await field.press('Enter')
    await dialog.getByText(changes.oneEmoji).waitFor()
  }
  await field.fill('no such emoji')
  await dialog.getByText(changes.noEmojiFound).waitFor()
  // A family of four is one emoji.
  await field.fill('👨‍👩‍👧‍👦')
  await field.press('Enter')
  await has(bob, toAlice, id, isReacted('👨‍👩‍👧‍👦'))
  // It is the first of the menu now, and takes itself back.
  await alice.opensMenuOf('Shall we fly?')
  await alice.page.getByRole('menuitemradio', { checked: true }).click()
  await has(bob, toAlice, id, isReacted(undefined))
  expect(await alice.page.getByRole('button', { name: t.reaction('👨‍👩‍👧‍👦', t.you) }).count()).toBe(0)
})

test('a reaction to a message that was retracted meanwhile is refused, which is said', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { changes, conversation: t } = alice.t
  const { id } = await bob.client.send(toAlice, 'I got the job')
  await alice.opensMenuOf('I got the job')
  const thumb = alice.page.getByRole('menuitemradio', { name: changes.quick['👍'] ?? '', exact: true })
  await thumb.waitFor()
  await bob.client.retract(toAlice, id)
  await alice.sees(t.retracted)
  await thumb.click()
  await isTold(alice, changes.notReactable)
})

test('an own text is edited from the field, both sides see it, and a reload keeps it', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { changes, common, conversation: t } = alice.t
  await alice.writes('See you at nien')
  const { id } = await bob.receives('See you at nien')
  const form = alice.page.getByRole('textbox', { name: changes.newText })
  // By the key of the empty field. Escape leaves it as it was.
  await alice.field.press('ArrowUp')
  await alice.finds('See you at nien', form)
  await form.fill('never')
  await form.press('Escape')
  await form.waitFor({ state: 'detached' })
  await until('the field has the focus again', () =>
    alice.field.evaluate((each) => each === document.activeElement),
  )
  await alice.field.press('ArrowUp')
  await form.fill('See you at nine')
  await form.press('Enter')
  await has(bob, toAlice, id, ({ text }) => text === 'See you at nine')
  const article = await alice.sees('See you at nine')
  await article.getByText(t.edited, { exact: true }).waitFor()
  expect(await article.getByText(t.edited, { exact: true }).getAttribute('title')).toMatch(/\d/)
  await alice.seesInList('Bob', 'See you at nine')
  await alice.reloads()
  await (await alice.sees('See you at nine')).getByText(t.edited, { exact: true }).waitFor()

  // What one was writing is still there afterwards.
  await alice.types('I was just')
  await alice.does(changes.edit, 'See you at nine')
  await form.fill('See you at ten')
  expect(await alice.field.count()).toBe(0)
  await alice.presses(common.save)
  await has(bob, toAlice, id, ({ text }) => text === 'See you at ten')
  await alice.finds('I was just')

  // Texts of others, and those without forward secrecy, cannot be edited.
  await bob.client.send(toAlice, 'Fine')
  for (const text of ['Fine', '1 ?']) {
    await alice.opensMenuOf(text)
    await alice.page.getByRole('menuitem', { name: alice.t.common.copy }).waitFor()
    expect(await alice.page.getByRole('menuitem', { name: changes.edit, exact: true }).count()).toBe(0)
    await alice.page.keyboard.press('Escape')
  }
})

test('if the form for edits cannot be loaded, that is said, and one can go on writing', async () => {
  const [alice, bob] = await aliceAndBob()
  const { changes: t, common, errors } = alice.t
  await alice.writes('At sevn')
  await keepNotices(alice.page)
  alice.expects(/net::ERR_FAILED/)
  await alice.context.route('**/assets/edit-form-*.js', (route) => route.abort())
  await alice.field.press('ArrowUp')
  await isTold(alice, errors.codes.NETWORK ?? '')
  await alice.writes('At seven')
  await bob.receives('At seven')
  await alice.context.unrouteAll()
  await alice.presses(common.tryAgain)
  await alice.does(t.edit, 'At sevn')
  await alice.finds('At sevn', alice.page.getByRole('textbox', { name: t.newText }))
})

test('what was typed into an edit is there again after the conversation was left, until the edit ends', async () => {
  const [alice] = await aliceAndBob()
  const { changes: t, common } = alice.t
  const field = alice.page.getByLabel(t.newText)
  await alice.writes('At sevn')
  const edits = async (): Promise<void> => {
    await alice.opensMenuOf('At sevn')
    await alice.page.getByRole('menuitem', { name: t.edit }).click()
  }
  await edits()
  await field.fill('At seven')
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.field.waitFor()
  await edits()
  expect(await field.inputValue()).toBe('At seven')
  await alice.presses(common.cancel)
  await edits()
  expect(await field.inputValue()).toBe('At sevn')
})

test('an edit of a friend is text, a reaction of odd characters is not shown, and what is newer says so', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { conversation: t, chats } = alice.t
  const { id } = await bob.client.send(toAlice, 'innocent')
  await alice.sees('innocent')
  const markup = `<img src=x onerror="globalThis.ran=true"> ${'\u202e'}backwards`
  await new Edits(bob.client).edit(toAlice, id, markup)
  const article = await alice.sees('onerror')
  await article.getByText(t.edited, { exact: true }).waitFor()
  expect(await article.locator('img').count()).toBe(0)
  const reaction = { kind: 'reaction', messageId: id, isOwn: true } as const
  const zalgo = `❤${'\u0301'.repeat(28)}`
  const odd = ['<b>x</b>', 'a', '👍👍', '', '\u202e', `👍${'\u200d👍'.repeat(9)}`]
  for (const [count, text] of odd.entries()) {
    const at = Date.now() + count
    await sendContent(bob, toAlice, { ...reaction, reaction: text, at }).catch((error: ClientError) => error)
  }
  await bob.client.send(toAlice, 'after the odd ones')
  await alice.sees('after the odd ones')
  expect(await article.getByRole('button').count()).toBe(0)
  // One character, with marks above marks: they are cut off.
  await sendContent(bob, toAlice, { ...reaction, reaction: zalgo, at: Date.now() + 1000 })
  const shown = await reactionAt(alice, 'onerror', t.reaction(zalgo, 'Bob'))
  expect((await shown.boundingBox())?.height).toBeLessThan(40)
  expect(await shown.evaluate(({ firstElementChild: each }) => each && getComputedStyle(each).overflow)).toBe(
    'clip',
  )

  await sendContent(bob, toAlice, Uint8Array.of(1, 99, 1, 2, 0x68, 0x69))
  await alice.sees(t.needsNewer)
  await alice.seesInList('Bob', chats.needsNewer)
  expect(await alice.page.evaluate(() => 'ran' in globalThis)).toBe(false)
})

test('an edit that comes too late is said, and one that the relay refuses', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { changes, common, errors } = alice.t
  const form = alice.page.getByRole('textbox', { name: changes.newText })
  await alice.writes('as it was')
  const { id } = await bob.receives('as it was')
  await alice.does(changes.edit, 'as it was')
  const ahead = await alice.page.evaluateHandle(() => {
    const { now } = Date
    Date.now = () => now() + 25 * 3_600_000
    return { end: () => Object.assign(Date, { now }) }
  })
  await form.fill('too late')
  await alice.presses(common.save)
  await isTold(alice, changes.notEditable)
  // What was typed is not lost.
  await alice.finds('too late', form)
  await ahead.evaluate(({ end }) => end())
  await form.fill('as it is')
  await alice.presses(common.save)
  await has(bob, toAlice, id, ({ text }) => text === 'as it is')

  await alice.goesOffline()
  await alice.does(changes.edit, 'as it is')
  await form.fill('as it never is')
  await alice.presses(common.save)
  await alice.sees('as it never is')
  const [friendship] = await bob.client.syncFriends()
  await bob.client.removeFriend(friendship?.friendship_id ?? 0)
  await alice.goesOnline()
  await isTold(alice, errors.changeRefused(errors.codes.NOT_FRIENDS ?? ''))
})
