// What an order holds has one key everywhere: when ordering, judging late money, searching the shop, and
// deleting. If two parts built different keys, one thing could be sold twice and no error would show it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld } from '../../test/shop-world.ts'
import { deleteChannel } from '../channels/catalog.ts'
import { searchVanity } from '../vanity/search.ts'

for (const engine of engines) {
  describe(`what orders hold on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    const isOffered = async (alias: string): Promise<boolean> => {
      const found = await searchVanity(shop.storage.sql, shop.rules, alias)
      return found.some(({ alias_id }) => alias_id === alias)
    }

    test('an id that is ordered is not offered, and not sold for a late payment', async () => {
      const late = await shop.buyAlias(shop.alice)
      shop.clock.advance(16 * MINUTE_MS)
      const next = await shop.buyAlias(shop.bob)
      expect(await isOffered('river')).toBe(false)
      await shop.pay(late)
      expect(await shop.outcomes(late)).toEqual(['refund late all'])
      await shop.pay(next)
      expect(await shop.status(next)).toBe('confirmed')
    })

    test('an id that was paid late is held again until it is bound', async () => {
      const late = await shop.buyAlias(shop.alice)
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      expect(await isOffered('river')).toBe(true)
      await shop.pay(late)
      expect(await isOffered('river')).toBe(false)
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      expect(await failureOf(shop.reserve('203.0.113.7'))).toMatchObject({ code: 'ALIAS_TAKEN' })
    })

    test('an id is held in the same way for an account and for a reservation', async () => {
      await shop.reserve('203.0.113.7')
      expect(await isOffered('river')).toBe(false)
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
    })

    test('a channel that is ordered is not sold for a late payment', async () => {
      const channel = await shop.offer(shop.alice)
      const late = await shop.buyChannel(shop.bob, channel)
      shop.clock.advance(16 * MINUTE_MS)
      const next = await shop.buyChannel(shop.carol, channel)
      await shop.pay(late)
      expect(await shop.outcomes(late)).toEqual(['refund late all'])
      await shop.pay(next)
      expect((await shop.channel(channel, shop.carol)).owner_id).toBe(shop.carol.id)
    })

    test('the order that holds a channel ends when the channel is deleted', async () => {
      const channel = await shop.offer(shop.alice)
      const order = await shop.buyChannel(shop.bob, channel)
      await shop.storage.transaction((sql) =>
        deleteChannel(sql, { id: channel, caller: shop.alice.id }, { clock: shop.clock }),
      )
      expect(await shop.status(order)).toBe('expired')
    })
  })
}
