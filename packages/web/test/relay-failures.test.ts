// Stories of a relay that fails and comes back: what was written is sent, and what was done is found again.
import { afterEach, expect, test } from 'bun:test'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({ PAYMENTS: 'manual', MANUAL_PAY_TO: 'the till' }, { keepsApp: true })
let isGone = false
afterEach(async () => {
  if (isGone) await world.relay.start()
  isGone = false
})

async function fails(): Promise<void> {
  isGone = true
  await world.relayFails()
}

async function returns(): Promise<void> {
  await world.relay.start()
  isGone = false
}

/** Lets the relay do what the next such request asks for. The relay fails before its answer arrives. */
async function failsAfter(person: AppPerson, path: string): Promise<void> {
  await person.context.route(
    `**/api/v1${path}`,
    async (route) => {
      await route.fetch()
      await fails()
      await route.abort('connectionreset')
    },
    { times: 1 },
  )
}

test('the relay restarts while a conversation is open', async () => {
  const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const alice = await world.recovered('Alice', phrase, { screen: 'phone' })
  const bob = await world.recovered('Bob', bobsPhrase)
  const status = alice.page.getByRole('status').filter({ hasText: alice.t.common.offlineHint })
  await alice.opens('Bob')
  await alice.writes('before')
  await alice.sees('before', { mark: 'delivered' })
  await fails()
  await status.waitFor()
  await alice.writes('while it is away')
  await alice.sees('while it is away', { mark: 'sending' })
  await returns()
  await alice.sees('while it is away', { mark: 'delivered' })
  await status.waitFor({ state: 'detached' })
  await bob.opens('Alice')
  await bob.sees('while it is away')
  expect(await bob.page.getByRole('article').filter({ hasText: 'while it is away' }).count()).toBe(1)
})

test('an order whose answer is lost is there once the relay is back, and only once', async () => {
  const clara = await world.joins('Clara')
  const { shop, errors } = clara.t
  await clara.goesTo('#/shop/alias/clara_of_the_hills')
  await failsAfter(clara, '/vanity/purchase')
  await clara.presses(shop.hold)
  await clara.reads(errors.codes.NETWORK ?? '')
  await returns()
  await clara.presses(shop.hold)
  await clara.reads(shop.states.pending)
  await clara.reads('the till')
  await clara.goesTo('#/shop/orders')
  const orders = clara.page.getByRole('link').filter({ hasText: 'clara_of_the_hills' })
  await orders.first().waitFor()
  expect(await orders.count()).toBe(1)
})

test('it is said that nobody knows whether a channel was created, and the list shows that it was', async () => {
  const dora = await world.joins('Dora')
  const t = dora.t.channels
  await dora.goesTo('#/channels/new')
  await dora.page.getByLabel(t.name, { exact: true }).fill('Kettles of Dora')
  await failsAfter(dora, '/channels')
  await dora.presses(t.create)
  const alert = dora.page.getByRole('alert').filter({ hasText: t.unknownTitle })
  await alert.waitFor()
  expect(await dora.page.getByLabel(t.name, { exact: true }).inputValue()).toBe('Kettles of Dora')
  await returns()
  await alert.getByRole('link', { name: t.toChannels }).click()
  await dora.page.getByRole('link').filter({ hasText: 'Kettles of Dora' }).click()
  await dora.page.getByLabel(t.newPost).waitFor()
})
