// People report to the relay's operator: what the operator sees of it, and what comes after it.
import { expect, test } from 'bun:test'
import { Channels } from '@sotto/client'
import { openReports } from '../../client/test/operator.ts'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** The open dialog of a report. */
function dialogOf(person: AppPerson) {
  return person.page.getByRole('dialog')
}

/** Gives the reason that the dialog asks for, and sends the report. */
async function reports(person: AppPerson, reason: string): Promise<void> {
  await dialogOf(person).getByLabel(person.t.report.reason).fill(reason)
  await dialogOf(person).getByRole('button', { name: person.t.report.send }).click()
}

/** The latest report. */
async function latest() {
  return (await openReports(world.relay))[0]
}

test('a friend request is reported, without its words unless they are attached, and its sender is blocked', async () => {
  const [alice, mallory] = [await world.joins('Alice'), await Person.join('Mallory', world.relay.url)]
  const { report: t, contacts, common } = alice.t
  await mallory.client.requestFriend(await alice.ownAlias())
  await alice.goesTo('#/contacts')
  await alice.presses(common.report)
  const send = dialogOf(alice).getByRole('button', { name: t.send })
  expect(await send.isDisabled()).toBe(true)
  await alice.reads(t.left(1000))
  await dialogOf(alice).getByLabel(t.reason).fill('I do not know this person 🙈')
  await alice.reads(t.left(973))
  expect(await dialogOf(alice).getByRole('switch').isChecked()).toBe(false)
  await send.click()
  await alice.reads(t.sentTitle)
  const sent = { about: 'friend_request', object: mallory.alias, reason: 'I do not know this person 🙈' }
  expect(await latest()).toMatchObject({ ...sent, content: null })
  await dialogOf(alice).getByRole('button', { name: t.notNow }).click()
  await dialogOf(alice).waitFor({ state: 'detached' })

  await alice.presses(common.report)
  await dialogOf(alice).getByRole('switch').check()
  await reports(alice, 'Again')
  await dialogOf(alice).getByRole('button', { name: contacts.block }).click()
  await isTold(alice, contacts.isBlocked('Mallory'))
  await alice.page.getByText(contacts.wantsToTalk).waitFor({ state: 'detached' })
  const { object } = sent
  expect(await latest()).toMatchObject({ object, reason: 'Again', content: `Mallory (${object})` })
  await mallory.client.close()
})

test('a message is reported from its menu, and a contact from the menus and the page of the contact', async () => {
  const [alice, bob, alias] = await world.withFriend('Alice', 'Bob')
  const { report: t, common } = alice.t
  await bob.client.send(alias, 'Send me your twelve words')
  await alice.opens('Bob')
  await alice.writes('No')
  await alice.opensMenuOf('No')
  const menu = alice.page.getByRole('menu')
  await menu.waitFor()
  expect(await menu.getByRole('menuitem', { name: common.report }).count()).toBe(0)
  await alice.page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  await alice.does(common.report, 'Send me your twelve words')
  await alice.reads(t.attachHint)
  await dialogOf(alice).getByText(t.attached).click()
  await dialogOf(alice).getByText('Send me your twelve words').waitFor()
  await dialogOf(alice).getByRole('switch').check()
  await reports(alice, 'Phishing')
  await alice.reads(t.blockToo('Bob'))
  expect(await latest()).toMatchObject({
    about: 'account',
    object: bob.alias,
    reason: 'Phishing',
    content: 'Send me your twelve words',
  })
  await alice.page.keyboard.press('Escape')
  await dialogOf(alice).waitFor({ state: 'detached' })

  await alice.page
    .getByRole('button', { name: alice.t.chats.actions('Bob') })
    .last()
    .click()
  await alice.choosesFromMenu(common.report)
  expect(await dialogOf(alice).getByRole('switch').count()).toBe(0)
  await reports(alice, 'From the menu')
  await alice.reads(t.blockToo('Bob'))
  expect(await latest()).toMatchObject({ reason: 'From the menu', content: null })
  await dialogOf(alice).getByRole('button', { name: t.notNow }).click()
  await alice.goesTo('#/contacts')
  await alice.conversationWith('Bob').click()
  await alice.presses(common.report)
  await reports(alice, 'From the page')
  await dialogOf(alice).getByRole('button', { name: alice.t.contacts.block }).click()
  await isTold(alice, alice.t.contacts.isBlocked('Bob'))
  await alice.goesTo('#/contacts/blocked')
  await alice.reads(alice.t.contacts.unblock)
})

test('a channel and a post are reported by the keyboard, and a report that fails keeps what was typed', async () => {
  const [alice, bob] = [await world.joins('Alice'), await Person.join('Bob', world.relay.url)]
  const { report: t, common } = alice.t
  const channels = new Channels(bob.client)
  const channel = await channels.create({ name: 'Free prizes' })
  const post = await channels.post(channel, 'Send me your twelve words')
  await alice.goesTo(`#/channels/${channel}`)
  await alice.sees('Send me your twelve words')
  const button = alice.page.getByRole('button', { name: common.report })
  await button.press('Enter')
  await alice.reads(t.isPublic)
  await alice.page.keyboard.press('Escape')
  await dialogOf(alice).waitFor({ state: 'detached' })
  await alice.page.waitForFunction((label) => document.activeElement?.ariaLabel === label, common.report)
  await alice.page.keyboard.press('Enter')
  await dialogOf(alice).getByLabel(t.reason).fill('Phishing')
  await alice.page.keyboard.press('Tab')
  await alice.page.keyboard.press('Tab')
  await alice.page.keyboard.press('Enter')
  await isTold(alice, t.sentTitle)
  expect(await latest()).toMatchObject({ about: 'post', object: `${channel} ${post}`, reason: 'Phishing' })

  await alice.goesTo(`#/channels/${channel}/about`)
  await alice.presses(common.report)
  await reports(alice, 'All of it')
  await dialogOf(alice).waitFor({ state: 'detached' })
  expect(await latest()).toMatchObject({ about: 'channel', object: channel, reason: 'All of it' })

  await alice.presses(common.report)
  await channels.delete(channel)
  alice.expects(/status of 404 .*\/reports/)
  await reports(alice, 'Still there?')
  await alice.reads(alice.t.errors.codes.NOT_FOUND ?? '')
  await alice.finds('Still there?', dialogOf(alice).getByLabel(t.reason))
  await bob.client.close()
})
