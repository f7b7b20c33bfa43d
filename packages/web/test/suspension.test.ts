// The relay's operator suspends an account: the app says why and until when, keeps what is on the device, and
// goes on when the suspension is lifted.
import { test } from 'bun:test'
import { liftSuspension, suspendAccount } from '../../client/test/operator.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const WHY = 'You sent the same to everybody.'
const MINUTE_MS = 60_000

/** The operator suspends somebody's account, and the app says so. */
async function isSuspended(person: AppPerson, alias: string, until?: string): Promise<void> {
  // What was under way has a dead token.
  person.expects(/status of 401 |status of 403 .*\/ws\/ticket/)
  await suspendAccount(world.relay, alias, { why: WHY, ...(until === undefined ? {} : { until }) })
  await person.page.getByRole('alert').filter({ hasText: WHY }).waitFor()
}

/** Waits until the app does not say any more that the account is suspended. */
async function isIn(person: AppPerson): Promise<void> {
  await person.page.getByText(person.t.suspension.title).waitFor({ state: 'detached' })
}

test('who is suspended reads why and until when, can read on, and goes on once it is lifted', async () => {
  const [alice, bob, alias] = await world.withFriend('Alice', 'Bob')
  const t = alice.t.suspension
  await alice.opens('Bob')
  await alice.writes('before')
  await bob.receives('before')
  await isSuspended(alice, alias, '2037-01-31T12:00:00.000Z')
  await alice.reads(/It ends on .*2037/)
  await alice.writes('while suspended')
  // The first bar of a page that is loaded meanwhile comes from the refused login.
  await alice.reloads()
  await alice.page.getByRole('alert').filter({ hasText: WHY }).waitFor()
  await alice.sees('before')
  await alice.sees('while suspended', { mark: 'sending' })
  const first = alice.page
  await alice.comes()
  await alice.page.getByRole('alert').filter({ hasText: WHY }).waitFor()

  await liftSuspension(world.relay, alias)
  // The bar of this tab may have looked since, and be gone.
  await alice.pressesUntilGone(t.check, t.title)
  alice.looksAt(first)
  await isIn(alice)
  await bob.receives('while suspended')
  await alice.sees('while suspended', { mark: 'delivered' })
})

test('the app looks by itself whether a suspension has been lifted', async () => {
  const [alice, , alias] = await world.withFriend('Alice', 'Bob')
  await alice.context.clock.install()
  await alice.reloads()
  await isSuspended(alice, alias)
  await alice.reads(alice.t.suspension.withoutEnd)
  await liftSuspension(world.relay, alias)
  await alice.context.clock.fastForward(MINUTE_MS)
  await isIn(alice)
})

test('who is suspended can delete the account, and what is refused says why', async () => {
  const [alice, bob, alias] = await world.withFriend('Alice', 'Bob')
  await isSuspended(alice, alias)
  await alice.goesTo('#/contacts/add')
  await alice.page.getByLabel(alice.t.contacts.aliasLabel).fill(bob.alias)
  alice.expects(/status of 403 .*\/(users\/|invites)/)
  await alice.presses(alice.t.contacts.find)
  await alice.reads(alice.t.errors.codes.ACCOUNT_SUSPENDED ?? '')
  const { settings } = alice.t
  await alice.goesTo('#/settings/account')
  await alice.presses(settings.deleteAccount)
  const dialog = alice.page.getByRole('dialog')
  await dialog.getByLabel(settings.deleteType(alias)).fill(alias)
  await dialog.getByRole('button', { name: settings.deleteAccount, exact: true }).click()
  await alice.page.getByRole('button', { name: alice.t.welcome.create }).waitFor()
  await isIn(alice)
})
