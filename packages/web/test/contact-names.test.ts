// Stories of names that only contacts see, inside the encryption. The friend has another program.
import { afterEach, expect, test } from 'bun:test'
import { Profiles } from '@sotto/client'
import type { Locator } from 'playwright-core'
import { Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { secretFriends } from './secret-friend.ts'
import { isTold } from './told.ts'
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

/** A friend takes another name, or none, and says so by writing. */
async function takes(friend: Person, contact: string, name: string | undefined): Promise<void> {
  await new Profiles(friend.client).setName(name)
  await friend.client.send(contact, `Call me ${name}`)
}

/** Waits until the list and the open conversation call the contact this. */
async function callsIt(person: AppPerson, name: string): Promise<void> {
  const { page } = person
  await page.getByRole('list').locator('bdi').getByText(name, { exact: true }).first().waitFor()
  await titleOf(person, name).waitFor()
}

/** The name above the open conversation. */
function titleOf({ page }: AppPerson, name: string): Locator {
  return page.locator('.app-detail h1 bdi').getByText(name, { exact: true })
}

test('what a contact calls itself is shown at once, with its alias where it proves nothing, until it is taken back', async () => {
  const [alice, bob, toAlice] = await aliceAndBob()
  const { contacts: t, common } = alice.t
  await callsIt(alice, 'Bob')
  await takes(bob, toAlice, 'Robert')
  await callsIt(alice, 'Robert')
  const place = new URL(alice.page.url()).hash
  await alice.reloads()
  await callsIt(alice, 'Robert')
  const first = alice.page
  await alice.comes()
  await alice.goesTo(place)
  await callsIt(alice, 'Robert')
  await takes(bob, toAlice, 'Rob')
  await callsIt(alice, 'Rob')
  await alice.leaves()
  alice.looksAt(first)
  await callsIt(alice, 'Rob')

  await alice.goesTo('#/contacts')
  await alice.conversationWith('Rob').filter({ hasText: bob.alias }).click()
  const heading = (name: string): Locator => alice.page.getByRole('heading', { level: 1, name, exact: true })
  const says = (label: string, name: string): Locator =>
    alice.page.getByText(`${label} ${name}`, { exact: true })
  await heading('Rob').waitFor()
  await says(t.callsItself, 'Rob').waitFor()
  await says(t.nicknameAtRelay, 'Bob').waitFor()
  await alice.reads(t.namesProveNothing)
  expect(await alice.page.getByRole('main').locator('.code').last().innerText()).toBe(bob.alias)

  // The user's own name for the contact comes first. What the contact says of itself changes meanwhile.
  await alice.page.getByLabel(t.nameLabel).fill('Bobby')
  await alice.presses(common.save)
  await heading('Bobby').waitFor()
  await takes(bob, toAlice, 'Bertie')
  await says(t.callsItself, 'Bertie').waitFor()
  await heading('Bobby').waitFor()
  await alice.page.getByLabel(t.nameLabel).fill('')
  await alice.presses(common.save)
  await heading('Bertie').waitFor()

  // Somebody else has that name already.
  const carol = await Person.join('Carol', world.relay.url)
  friends.push(carol)
  await carol.client.requestFriend(toAlice)
  await alice.goesTo('#/contacts')
  await alice.presses(t.accept)
  await alice.goesTo(place)
  await alice.conversationWith('Carol').waitFor()
  await takes(bob, toAlice, 'Carol')
  await callsIt(alice, `${bob.alias} Carol`)
  await takes(bob, toAlice, `${carol.alias}: Carol`)
  await callsIt(alice, `${bob.alias} ${carol.alias}: Carol`)

  const markup = '<img src=x onerror="globalThis.ran=true"> اسم \u202eللعرض'
  await takes(bob, toAlice, markup)
  await callsIt(alice, markup.replace('\u202e', ''))
  expect(await alice.page.locator('.app-panes img[src="x"]').count()).toBe(0)
  expect(await alice.page.evaluate(() => 'ran' in globalThis)).toBe(false)

  await takes(bob, toAlice, undefined)
  await callsIt(alice, 'Bob')
  await alice.page.getByRole('main').getByRole('link', { name: 'Bob' }).last().click()
  await heading('Bob').waitFor()
  expect(await alice.page.getByText(t.callsItself).count()).toBe(0)
})

test('a name for contacts is set in the settings, refused if nobody could see it, changed and taken back', async () => {
  const [alice, bob] = await aliceAndBob()
  const { settings: t, common } = alice.t
  const place = new URL(alice.page.url()).hash
  const field = alice.page.getByLabel(t.contactName)
  const form = alice.page.locator('form').filter({ has: field })
  const save = form.getByRole('button', { name: common.save, exact: true })
  const names = async (): Promise<readonly string[]> =>
    (await new Profiles(bob.client).list()).map(({ name }) => name)
  const saves = async (name: string, told: string): Promise<void> => {
    await alice.goesTo('#/settings/account')
    await field.fill(name)
    await save.click()
    await isTold(alice, told)
  }
  /** Alice writes to Bob, who then knows her by this name, or none. */
  const isKnownAs = async (...wanted: readonly string[]): Promise<void> => {
    await alice.goesTo(place)
    const text = `I am ${wanted[0] ?? 'Alice'}`
    await alice.writes(text)
    await bob.receives(text)
    await until('Bob knows it', async () => (await names()).join() === wanted.join())
  }
  await saves('\u200b\u200b', t.contactNameRefused)
  await saves('  Alicia ', t.contactNameSaved)
  await until('there is nothing to save', () => save.isDisabled())
  expect(await field.inputValue()).toBe('Alicia')
  expect(await names()).toEqual([])
  await isKnownAs('Alicia')

  await alice.reloads()
  await alice.goesTo('#/settings/account')
  await alice.finds('Alicia', field)
  await saves('Ally', t.contactNameSaved)
  await isKnownAs('Ally')
  await saves('', t.contactNameTakenBack)
  await isKnownAs()
  // Bob’s own list says the same as before.
  expect((await bob.client.conversations())[0]?.nickname).toBe('Alice')
})
