// Stories of contacts: own names, muting, the end of a friendship, blocking, invitations.
import { expect, test } from 'bun:test'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { holdRequests } from './held-requests.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** Opens the page of a contact by the list of contacts. */
async function opensContact(person: AppPerson, contact: string): Promise<void> {
  await person.goesTo('#/contacts')
  await person.conversationWith(contact).click()
  await person.page.getByRole('heading', { level: 1, name: contact, exact: true }).waitFor()
}

/** Answers the question of a dialog. */
async function confirms(person: AppPerson, action: string): Promise<void> {
  await person.page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click()
}

test('a contact gets a name of my own, is muted, and cleared', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const t = alice.t.contacts
  await bob.opens('Alice')
  await bob.writes('something to clear')
  await alice.seesInList('Bob', 'something to clear')
  await opensContact(alice, 'Bob')
  await alice.page.getByLabel(t.nameLabel).fill('<b>Bobby</b>')
  await alice.presses(alice.t.common.save)
  await alice.page.getByRole('heading', { level: 1, name: '<b>Bobby</b>', exact: true }).waitFor()
  await alice.presses(t.mute)
  await alice.presses(t.muteAlways)
  await alice.presses(t.unmute)
  await alice.page.getByRole('button', { name: t.mute, exact: true }).waitFor()
  await alice.presses(t.clear)
  await confirms(alice, t.clear)
  await isTold(alice, t.cleared)
  await alice.goesTo('#/chats')
  await alice.seesInList('<b>Bobby</b>', alice.t.chats.nothing)
})

test('a friendship ends, and begins again', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const t = alice.t.contacts
  await opensContact(alice, 'Bob')
  await alice.presses(t.end)
  await confirms(alice, t.end)
  await alice.reads(t.notFriend)
  await bob.goesTo('#/contacts')
  await bob.reads(t.empty)
  await alice.follows(t.addAgain)
  await alice.presses(t.request)
  await bob.presses(t.accept)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.writes('friends again')
  await bob.goesTo('#/chats')
  await bob.seesInList('Alice', 'friends again')
})

test('who is blocked is listed as blocked until the block is lifted', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const t = alice.t.contacts
  const alias = await alice.ownAlias()
  await opensContact(alice, 'Bob')
  await alice.presses(t.block)
  await confirms(alice, t.block)
  await isTold(alice, t.isBlocked('Bob'))
  await alice.goesTo('#/contacts/blocked')
  const blocked = alice.page.getByRole('listitem').filter({ hasText: 'Bob' })
  await blocked.getByRole('button', { name: t.unblock }).click()
  await alice.reads(t.blockedEmpty)
  await bob.asksForFriendship(alias)
  await alice.goesTo('#/contacts')
  await alice.presses(t.accept)
  await isTold(alice, t.accepted('Bob'))
})

test('who is removed leaves both lists', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.contacts
  await opensContact(alice, 'Bob')
  await alice.presses(t.remove)
  await confirms(alice, t.remove)
  await alice.reads(t.empty)
  await alice.goesTo('#/chats')
  await alice.reads(alice.t.chats.archivedCount(1))
})

test('who has gone elsewhere stays there when the answer comes', async () => {
  const alice = await world.joins('Alice')
  const bob = await Person.join('Bob', world.relay.url)
  const asked = await holdRequests(alice, /\/friends\/request$/)
  await alice.asksForFriendship(bob.alias)
  await asked.isHeld
  await alice.goesTo('#/settings')
  asked.release()
  await isTold(alice, alice.t.contacts.requested('Bob'))
  expect(new URL(alice.page.url()).hash).toBe('#/settings')
  await bob.client.close()
})

test('a dialog that opens after another was left stays open when the work of the other ends', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.contacts
  await opensContact(alice, 'Bob')
  const ended = await holdRequests(alice, /\/friends\/\d+$/)
  await alice.presses(t.end)
  await confirms(alice, t.end)
  await ended.isHeld
  await alice.page.keyboard.press('Escape')
  await alice.page.getByRole('dialog').waitFor({ state: 'detached' })
  await alice.presses(t.clear)
  const dialog = alice.page.getByRole('dialog', { name: t.clearTitle })
  await dialog.waitFor()
  ended.release()
  await isTold(alice, t.ended('Bob'))
  await alice.settles()
  expect(await dialog.isVisible()).toBe(true)
  await confirms(alice, t.clear)
  await isTold(alice, t.cleared)
})

test('an invitation waits until there is an account, and asks before it sends a request', async () => {
  const bob = await world.joins('Bob')
  const alias = await bob.ownAlias()
  const alice = await world.stranger('Alice')
  const { invitation, contacts } = alice.t
  await alice.goesTo(`#/add/${alias}?relay=${world.relay.url}`)
  await alice.reads(invitation.invited(alias))
  await alice.registers()
  await alice.page.getByRole('heading', { name: 'Bob' }).waitFor()
  // Nothing was sent by opening the link.
  await bob.goesTo('#/contacts')
  await bob.reads(contacts.empty)
  await alice.presses(contacts.request)
  await alice.reads(contacts.waiting)
  await bob.presses(contacts.accept)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.writes('Thank you for the invitation')
  await bob.goesTo('#/chats')
  await bob.seesInList('Alice', 'Thank you for the invitation')
})

test('an invitation of another relay says so, and one that names nobody, too', async () => {
  const alice = await world.joins('Alice')
  const { invitation } = alice.t
  await alice.goesTo('#/add/anna_5?relay=https://other.example')
  await alice.reads(invitation.elsewhere)
  await alice.reads('https://other.example')
  const there = alice.page.getByRole('link', { name: invitation.openThere })
  expect(await there.getAttribute('href')).toBe('https://other.example/#/add/anna_5')
  await alice.goesTo('#/add/%3Cimg%20src=x%20onerror=alert(1)%3E')
  await alice.reads(invitation.broken)
  alice.expects(/status of 404 .*\/users\/nobody_has_this\)$/)
  await alice.goesTo(`#/add/nobody_has_this?relay=${world.relay.url}`)
  await alice.reads(alice.t.contacts.nobody)
})
