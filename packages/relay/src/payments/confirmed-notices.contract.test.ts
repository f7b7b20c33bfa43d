// How long `payment_confirmed` is kept for an account that is away, on every engine.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld } from '../../test/shop-world.ts'
import { Expiry } from '../messages/expiry.ts'
import { createLog } from '../operations/log.ts'
import { applySteps } from '../storage/migrate.ts'
import { keptNotices } from '../storage/migrations/kept-notices.ts'
import type { Order } from './order.ts'

const YEAR_MS = 365 * 24 * 60 * MINUTE_MS

for (const engine of engines) {
  describe(`payment_confirmed on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    const pass = async (ms: number): Promise<void> => {
      shop.clock.advance(ms)
      await new Expiry({ ...shop, log: createLog('silent') }).sweep()
    }
    const frameOf = ({ order_id, ref_id }: Order) => ({ type: 'payment_confirmed', order_id, ref_id })

    test('it is kept as long as its order can be bound, and a month more', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order)
      await pass(YEAR_MS)
      expect(await shop.notices(shop.alice)).toEqual([frameOf(order)])
      await shop.bind(shop.alice, order.order_id)
      await pass(0)
      expect(await shop.notices(shop.alice)).toEqual([])
    })

    test('for what is delivered at once it is kept for a month', async () => {
      const order = await shop.buySeat(shop.alice)
      await shop.pay(order)
      await pass(YEAR_MS / 13)
      expect(await shop.notices(shop.alice)).toEqual([frameOf(order)])
      await pass(YEAR_MS / 13)
      expect(await shop.notices(shop.alice)).toEqual([])
    })

    test('a store of an older relay keeps those whose order can still be bound', async () => {
      const [open, bound] = [await shop.buyAlias(shop.alice), await shop.buyAlias(shop.alice, 'valley')]
      const seat = await shop.buySeat(shop.alice)
      for (const order of [open, bound, seat]) await shop.pay(order)
      await shop.bind(shop.alice, bound.order_id)
      await shop.storage.transaction((sql) => sql`UPDATE notices SET kept_for = NULL`)
      const steps = keptNotices(shop.storage.engine.dialect)
      const update = steps.filter((step) => typeof step === 'string' && step.startsWith('UPDATE'))
      await shop.storage.transaction((sql) => applySteps(sql, update))
      await pass(YEAR_MS)
      expect(await shop.notices(shop.alice)).toEqual([frameOf(open)])
    })
  })
}
