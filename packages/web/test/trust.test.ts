// Stories of trust: codes are compared, and keys change.
import { expect, test } from 'bun:test'
import { deriveIdentityKeys, encodeBase64, generateMnemonic } from '@sotto/crypto'
import type { AppPerson } from './app-person.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const FRIENDS = /\/api\/v1\/friends(\?|$)/

/** From now on the relay gives this person other keys for all friends. */
async function getsOtherKeys(person: AppPerson): Promise<void> {
  const other = await deriveIdentityKeys(
    await generateMnemonic((length) => crypto.getRandomValues(new Uint8Array(length))),
  )
  await person.context.route(FRIENDS, async (route) => {
    const answer = await route.fetch()
    const friends: { x25519_public_key: string }[] = await answer.json()
    const x25519_public_key = encodeBase64(other.agreement.publicKey)
    await route.fulfill({ response: answer, json: friends.map((each) => ({ ...each, x25519_public_key })) })
  })
}

test('two people compare their code, are verified, and take it back', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const t = alice.t.trust
  const code = await alice.opensCode('Bob')
  expect(code).toMatch(/^([0-9A-F]{4} ){14}[0-9A-F]{4}$/i)
  expect(await bob.opensCode('Alice')).toBe(code)
  await alice.presses(t.same)
  await isTold(alice, t.isVerified('Bob'))
  await alice.reads(t.verified)
  await alice.presses(t.takeBack)
  await alice.page.getByRole('button', { name: t.same, exact: true }).waitFor()
})

test('the code on the screen of the other one is scanned from a picture, and any other code is refused', async () => {
  const [alice, bob, carol] = await world.friends('Alice', 'Bob', 'Carol')
  const { trust: t, scan } = alice.t
  await bob.opensCode('Alice')
  await carol.opensCode('Alice')
  const [bobs, carols] = await Promise.all(
    [bob, carol].map((each) => each.page.locator('.qr-code').screenshot()),
  )
  await alice.opensCode('Bob')
  const picks = async (buffer: Buffer | undefined): Promise<void> => {
    await alice.presses(scan.scan)
    await alice.page
      .getByLabel(scan.fromPicture)
      .setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: buffer ?? Buffer.alloc(0) })
  }
  await picks(carols)
  await isTold(alice, scan.differs)
  await picks(bobs)
  await isTold(alice, t.isVerified('Bob'))
})

test('an alias is scanned from a picture', async () => {
  const [alice, bob] = await Promise.all([world.joins('Alice'), world.joins('Bob')])
  const { scan, contacts } = alice.t
  await bob.ownAlias()
  const picture = await bob.page.locator('.qr-code').screenshot()
  await alice.goesTo('#/contacts/add')
  await alice.presses(scan.scan)
  const file = alice.page.getByLabel(scan.fromPicture)
  await file.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
  await alice.reads(scan.noPicture)
  await file.setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: picture })
  await alice.presses(contacts.request)
  await alice.reads(contacts.waiting)
})

test('keys change: the app says so on every screen, refuses, and goes on after a deliberate choice', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.trust
  const before = await alice.opensCode('Bob')
  await getsOtherKeys(alice)
  await alice.goesTo('#/settings')
  await alice.goesTo('#/contacts')
  const alarm = alice.page.getByRole('alert').filter({ hasText: alice.t.common.keysChanged('Bob', 0) })
  await alarm.waitFor()
  await alice.goesTo('#/settings')
  await alarm.waitFor()
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alarm.waitFor()
  await alice.types('This must not be sent')
  await alice.field.press('Enter')
  await alice.reads(alice.t.errors.codes.KEY_CHANGED ?? '')
  await alice.follows(alice.t.common.keysChangedLook)
  await alice.reads(t.changedTitle('Bob'))
  const shown = await alice.readsCode()
  expect(shown).not.toBe(before)
  // Nothing is renewed before the question is answered.
  await alice.presses(t.renewBlind)
  await alice.page.getByRole('dialog').getByRole('button', { name: alice.t.common.cancel }).click()
  await alarm
    .or(alice.page.getByText(t.changedTitle('Bob')))
    .first()
    .waitFor()
  await alice.presses(t.renewSame)
  await alice.page.getByRole('dialog').getByRole('button', { name: t.same, exact: true }).click()
  await isTold(alice, t.isVerified('Bob'))
  await alice.reads(t.verified)
  expect(await alice.readsCode()).toBe(shown)
})

test('who goes on without comparing talks again, is not verified, and is reminded until the codes are compared', async () => {
  const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const [alice, bob] = [await world.stranger('Alice'), await world.recovered('Bob', bobsPhrase)]
  const { trust: t, common } = alice.t
  // The relay lies at first. Then it gives the keys that Bob has.
  await getsOtherKeys(alice)
  await alice.recovers(phrase)
  await alice.opensCode('Bob')
  await alice.presses(t.same)
  await alice.reads(t.verified)
  await alice.context.unroute(FRIENDS)
  await alice.goesTo('#/settings')
  await alice.goesTo('#/contacts')
  await alice.follows(common.keysChangedLook)
  await alice.presses(t.renewBlind)
  await alice.page.getByRole('dialog').getByRole('button', { name: t.renewBlind, exact: true }).click()
  await alice.page.getByRole('button', { name: t.same, exact: true }).waitFor()
  await alice.page.getByRole('alert').waitFor({ state: 'detached' })

  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.writes('Is it you?')
  await alice.sees('Is it you?', { mark: 'delivered' })
  await bob.opens('Alice')
  await bob.sees('Is it you?')
  await bob.writes('It is')
  await alice.sees('It is')
  await alice.reloads()
  await alice.sees('It is')
  const reminder = alice.page.getByRole('status').filter({ hasText: common.keysRenewed })
  await reminder.getByRole('link', { name: common.keysCompare }).click()
  expect(await alice.readsCode()).toBe(await bob.opensCode('Alice'))
  await alice.presses(t.same)
  await alice.reads(t.verified)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.sees('It is')
  await reminder.waitFor({ state: 'detached' })
})
