// Stories of trust: codes are compared, and keys change.
import { expect, test } from 'bun:test'
import { deriveIdentityKeys, encodeBase64, generateMnemonic } from '@sotto/crypto'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** Opens the security code of a contact, by the contact's page. */
async function opensCode(person: AppPerson, contact: string): Promise<string> {
  await person.goesTo('#/contacts')
  await person.conversationWith(contact).click()
  await person.follows(person.t.trust.title)
  return (await person.page.locator('.contacts-code').innerText()).replaceAll(/\s+/g, ' ').trim()
}

test('two people compare their code, are verified, and take it back', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  const t = alice.t.trust
  const code = await opensCode(alice, 'Bob')
  expect(code).toMatch(/^([0-9A-F]{4} ){14}[0-9A-F]{4}$/i)
  expect(await opensCode(bob, 'Alice')).toBe(code)
  await alice.presses(t.same)
  await alice.reads(t.isVerified('Bob'))
  await alice.reads(t.verified)
  await alice.presses(t.takeBack)
  await alice.page.getByRole('button', { name: t.same, exact: true }).waitFor()
})

test('the code on the screen of the other one is scanned from a picture, and any other code is refused', async () => {
  const [alice, bob, carol] = await world.friends('Alice', 'Bob', 'Carol')
  const { trust: t, scan } = alice.t
  await opensCode(bob, 'Alice')
  await opensCode(carol, 'Alice')
  const [bobs, carols] = await Promise.all(
    [bob, carol].map((each) => each.page.locator('.qr-code').screenshot()),
  )
  await opensCode(alice, 'Bob')
  const picks = async (buffer: Buffer | undefined): Promise<void> => {
    await alice.presses(scan.scan)
    await alice.page
      .getByLabel(scan.fromPicture)
      .setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: buffer ?? Buffer.alloc(0) })
  }
  await picks(carols)
  await alice.reads(scan.differs)
  await picks(bobs)
  await alice.reads(t.isVerified('Bob'))
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
  const [alice] = await world.friends('Alice', 'Bob')
  const t = alice.t.trust
  const before = await opensCode(alice, 'Bob')
  // From now on the relay gives other keys for Bob.
  const other = await deriveIdentityKeys(
    await generateMnemonic((length) => crypto.getRandomValues(new Uint8Array(length))),
  )
  await alice.context.route(/\/api\/v1\/friends(\?|$)/, async (route) => {
    const answer = await route.fetch()
    const friends: { x25519_public_key: string }[] = await answer.json()
    const x25519_public_key = encodeBase64(other.agreement.publicKey)
    await route.fulfill({ response: answer, json: friends.map((each) => ({ ...each, x25519_public_key })) })
  })
  await alice.goesTo('#/settings')
  await alice.goesTo('#/contacts')
  const alarm = alice.page.getByRole('alert').filter({ hasText: t.changedBar('Bob', 0) })
  await alarm.waitFor()
  await alice.goesTo('#/settings')
  await alarm.waitFor()
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alarm.waitFor()
  await alice.types('This must not be sent')
  await alice.field.press('Enter')
  await alice.reads(alice.t.errors.codes.KEY_CHANGED ?? '')
  await alice.follows(t.look)
  await alice.reads(t.changedTitle('Bob'))
  const shown = (await alice.page.locator('.contacts-code').innerText()).replaceAll(/\s+/g, ' ').trim()
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
  await alice.reads(t.isVerified('Bob'))
  await alice.reads(t.verified)
  expect((await alice.page.locator('.contacts-code').innerText()).replaceAll(/\s+/g, ' ').trim()).toBe(shown)
})
