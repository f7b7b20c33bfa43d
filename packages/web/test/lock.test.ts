// A passphrase locks the app.
import { expect, test } from 'bun:test'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

const PASSPHRASE = 'seven quiet boats'

test('lock, reload, unlock: nothing is shown until the passphrase is entered, and nothing is lost', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.writes('a secret')
  await alice.types('half a thought')
  await alice.setsPassphrase(PASSPHRASE)
  await alice.locks()
  await alice.reloads()
  await alice.page.getByRole('heading', { name: alice.t.lock.title }).waitFor()
  expect(await alice.page.getByText('a secret').count()).toBe(0)
  await alice.unlocks('a wrong one')
  await alice.reads(alice.t.errors.codes.WRONG_PASSPHRASE ?? '')
  await bob.client.send(toAlice, 'while you were locked')
  await alice.unlocks(PASSPHRASE)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.sees('a secret')
  await alice.sees('while you were locked')
  await alice.finds('half a thought')
})

test('who has forgotten the passphrase erases the device and recovers the account with its phrase', async () => {
  const alice = await world.stranger('Alice')
  const phrase = await alice.registers()
  const alias = await alice.ownAlias()
  await alice.setsPassphrase(PASSPHRASE)
  await alice.locks()
  const { lock, welcome } = alice.t
  await alice.presses(lock.forgotten)
  await alice.presses(alice.t.common.cancel)
  await alice.presses(lock.forgotten)
  await alice.presses(lock.forgottenDo)
  await alice.page.getByRole('heading', { name: welcome.title }).waitFor()
  await alice.recovers(phrase)
  expect(await alice.ownAlias()).toBe(alias)
})

test('who finds the device open gets neither the phrase, nor a file of everything, nor the lock off', async () => {
  const alice = await world.stranger('Alice')
  const phrase = await alice.registers()
  await alice.setsPassphrase(PASSPHRASE)
  const { settings, device, errors } = alice.t
  await alice.goesTo('#/settings/account')
  expect(await alice.page.getByRole('button', { name: settings.phraseShow }).count()).toBe(0)
  await alice.page.getByLabel(settings.passphrase).fill('a wrong one')
  await alice.presses(settings.passphraseContinue)
  await alice.reads(errors.codes.WRONG_PASSPHRASE ?? '')
  for (const [section, hidden] of [
    ['backup', device.backupDo],
    ['lock', settings.passphraseRemove],
  ] as const) {
    await alice.goesTo(`#/settings/${section}`)
    await alice.page.getByLabel(settings.passphrase, { exact: true }).waitFor()
    expect(await alice.page.getByRole('button', { name: hidden }).count()).toBe(0)
  }
  await alice.goesTo('#/settings/account')
  await alice.page.getByLabel(settings.passphrase).fill(PASSPHRASE)
  await alice.presses(settings.passphraseContinue)
  await alice.presses(settings.phraseShow)
  for (const word of phrase.split(' ')) await alice.page.getByText(word, { exact: true }).first().waitFor()
})

test('in a second tab the passphrase is asked for, and both tabs go on', async () => {
  const alice = await world.joins('Alice')
  await alice.setsPassphrase(PASSPHRASE)
  const { settings, lock } = alice.t
  const first = alice.page
  await alice.comes()
  await alice.goesTo('#/settings/account')
  // The first tab, which runs the client, has not loaded what knows this name, and is not locked by it.
  const name = alice.page.getByLabel(settings.contactName)
  await name.fill('Alicia')
  await alice.page.locator('form').filter({ has: name }).getByRole('button').click()
  await isTold(alice, settings.contactNameSaved)
  await alice.page.getByLabel(settings.passphrase).fill(PASSPHRASE)
  await alice.presses(settings.passphraseContinue)
  await alice.page.getByRole('heading', { name: lock.title }).waitFor({ state: 'detached' })
  await alice.page.getByLabel(settings.nickname).waitFor()
  alice.looksAt(first)
  await alice.goesTo('#/settings/account')
  await alice.page.getByLabel(settings.nickname).waitFor()
  await alice.finds('Alicia', alice.page.getByLabel(settings.contactName))
})

test('the app locks after a minute without use, in all tabs, and keeps what was being written', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const locked = alice.page.getByRole('heading', { name: alice.t.lock.title })
  await alice.setsPassphrase(PASSPHRASE)
  await alice.locksAfter(1, PASSPHRASE)
  // Time goes on by itself as well, by what this machine takes.
  await alice.context.clock.install()
  await alice.reloads()
  await alice.unlocks(PASSPHRASE)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  const first = alice.page
  await alice.comes()
  await alice.chats.waitFor()
  // The minute begins here, however long the tab took to come.
  await alice.page.keyboard.press('Shift')

  await alice.context.clock.fastForward(35_000)
  await alice.page.keyboard.press('Shift')
  await alice.context.clock.fastForward(35_000)
  alice.looksAt(first)
  await alice.types('half a thought')
  await first.mouse.move(10, 10)
  await alice.context.clock.fastForward(35_000)
  expect(await locked.count()).toBe(0)
  await alice.context.clock.fastForward(61_000)
  for (const page of alice.context.pages()) {
    alice.looksAt(page)
    await page.getByRole('heading', { name: alice.t.lock.title }).waitFor()
  }
  alice.looksAt(first)
  await alice.unlocks(PASSPHRASE)
  await alice.field.waitFor()
  await alice.finds('half a thought')

  // A device that slept locks before the first touch is heeded.
  await alice.context.clock.pauseAt(Date.now() + 3_600_000)
  await alice.page.keyboard.press('Shift')
  await locked.waitFor()
})

test('the app locks also when nothing more of it can be loaded', async () => {
  const alice = await world.joins('Alice')
  await alice.setsPassphrase(PASSPHRASE)
  await alice.context.clock.install()
  alice.expectsInterruptions()
  await alice.context.route('**/assets/**', (route) => route.abort())
  await alice.locksAfter(1, PASSPHRASE)
  await alice.context.clock.fastForward(61_000)
  // The screen that asks for the passphrase is not there either.
  await alice.reads(alice.t.errors.codes.NETWORK ?? '')
  expect(await alice.page.getByRole('navigation').count()).toBe(0)
  await alice.context.unrouteAll()
  await alice.presses(alice.t.common.tryAgain)
  await alice.page.getByRole('heading', { name: alice.t.lock.title }).waitFor()
})
