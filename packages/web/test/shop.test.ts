// Stories of the shop: what is ordered, paid and used.
import { describe, expect, test } from 'bun:test'
import type { AppPerson } from './app-person.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({ PAYMENTS: 'dev', LIMIT_CHANNEL_SEATS: '1' })

async function createsChannel(person: AppPerson, name: string): Promise<void> {
  await person.goesTo('#/channels/new')
  await person.page.getByLabel(person.t.channels.name, { exact: true }).fill(name)
  await person.presses(person.t.channels.create)
  await person.page.getByLabel(person.t.channels.newPost).waitFor()
}

test('an alias is found while typing, ordered, paid and bound', async () => {
  const clara = await world.joins('Clara')
  const t = clara.t.shop
  await clara.goesTo('#/shop')
  await clara.page.getByRole('textbox', { name: t.search }).fill('clara_of_the_hills')
  await clara.page.getByRole('link').filter({ hasText: 'clara_of_the_hills' }).first().click()
  await clara.presses(t.hold)
  await clara.presses(t.bind)
  await isTold(clara, t.boundNotice('clara_of_the_hills'))
  await clara.reads(t.bound)
  expect(await clara.ownAlias()).toBe('clara_of_the_hills')
})

test('who has taken all seats orders another one', async () => {
  const dora = await world.joins('Dora')
  await createsChannel(dora, 'First')
  const t = dora.t.channels
  dora.expects(/status of 403 .*\/channels\)$/)
  await dora.goesTo('#/channels/new')
  await dora.page.getByLabel(t.name, { exact: true }).fill('Second')
  await dora.presses(t.create)
  await dora.presses(t.buySeat)
  await dora.reads(dora.t.shop.seatPaid)
  await createsChannel(dora, 'Second')
})

describe('at a relay without payments', () => {
  const poor = new AppWorld()

  test('the shop says that nothing can be bought', async () => {
    const eve = await poor.joins('Eve')
    eve.expects(/status of 503 .*\/vanity\/purchase\)$/)
    await eve.goesTo('#/shop/alias/eve_in_the_garden')
    await eve.presses(eve.t.shop.hold)
    await eve.reads(eve.t.shop.noPayments)
    await eve.goesTo('#/shop/orders')
    await eve.reads(eve.t.shop.noOrders)
  })
})
