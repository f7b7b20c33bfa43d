// What the payment page shows of an order, on every engine.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { findPaymentView } from './payment-views.ts'

for (const engine of engines) {
  describe(`the payment page on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    test('does not count payments in another token, which may be worthless', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { asset: 'chain:1/other', amount: 10n ** 30n, problem: 'wrong_token' })
      await shop.pay(order, { asset: 'chain:1/other', amount: 10n ** 30n, isFinal: false })
      expect(await findPaymentView(order.page_token, shop)).toMatchObject({ state: 'waiting', received: '0' })
      await shop.pay(order, { amount: BigInt(order.amount) + UNIT })
      const view = await findPaymentView(order.page_token, shop)
      expect(view).toMatchObject({ state: 'confirmed', received: String(order.price + 1), excess: '1' })
    })
  })
}
