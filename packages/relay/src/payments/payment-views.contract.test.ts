// What the payment page shows of an order, on every engine.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { orderCommands } from './operator-orders.ts'
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

    test('never shows the order’s id, also where the names of payments contain it', async () => {
      const order = await shop.reserve('192.0.2.1')
      const commands = orderCommands(shop)
      const by = { order_id: order.order_id, who: 'ops', why: 'paid in cash' }
      await commands['orders.confirm'](by)
      const over = await shop.pay(order)
      await commands['orders.refund-recorded']({ ...by, payment: over, reference: `for ${order.order_id}` })
      const view = await findPaymentView(order.page_token, shop)
      expect(view?.arrivals).toMatchObject([
        { reference: 'manual/…', outcome: 'counted' },
        { outcome: 'refund', refund: { reference: 'for …' } },
      ])
      expect(JSON.stringify(view)).not.toContain(order.order_id)
    })

    test('shows what arrived: payments, other tokens, the chain’s own coin, and money on another chain', async () => {
      const order = await shop.buyAlias(shop.alice)
      const at = shop.clock.now()
      const found = async () => (await findPaymentView(order.page_token, shop))?.arrivals
      expect(await found()).toEqual([])
      await shop.pay(order, {
        reference: 'evm:9/0xa1/0xother/0',
        asset: 'chain:1/0xother',
        problem: 'wrong_token',
      })
      await shop.pay(order, {
        ...{ reference: 'evm:9/0xa2/native', asset: 'chain:1/native', problem: 'wrong_token' },
        amount: 5n * 10n ** 17n,
      })
      await shop.pay(order, {
        reference: 'x',
        asset: 'evm:8/0xother',
        problem: 'wrong_chain',
        isFinal: false,
      })
      await shop.pay(order, { reference: 'evm:9/0xa4/0xright/0', amount: BigInt(order.amount) + UNIT })
      const arrived = await found()
      const shared = { at, outcome: 'refund', refund: { reference: null } }
      expect(arrived).toMatchObject([
        { ...shared, kind: 'other_token', contract: '0xother', reference: '0xa1', network: 'Test' },
        { ...shared, kind: 'own_coin', amount: '0.5', reference: '0xa2', refund: { amount: '0.5' } },
        { kind: 'other_chain', reference: 'x', state: 'seen', outcome: null, network: '' },
        {
          kind: 'payment',
          amount: String(order.price + 1),
          symbol: 'USDT',
          outcome: 'counted',
          refund: { amount: '1' },
        },
      ])
      expect(arrived?.[0]?.amount).toBeUndefined()
    })
  })
}
