// A passphrase locks the app.
import { expect, test } from 'bun:test'
import { AppWorld } from './world.ts'

const world = new AppWorld()

const PASSPHRASE = 'seven quiet boats'

test('lock, reload, unlock: nothing is shown until the passphrase is entered, and nothing is lost', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
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
  await bob.opens('Alice')
  await bob.writes('while you were locked')
  await alice.unlocks(PASSPHRASE)
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await alice.sees('a secret')
  await alice.sees('while you were locked')
  expect(await alice.field.inputValue()).toBe('half a thought')
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
