// Reorganisations deeper than the confirmations, on every engine: final payments that do not return are named
// to the operator, and nothing is counted or given back for money that is not there.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { isAnyLost } from './lost-payments.ts'
import { orderCommands } from './operator-orders.ts'
import type { Order } from './order.ts'

const BY = { who: 'ops', why: 'looked at it' }

for (const engine of engines) {
  describe(`lost payments on ${engine.name}`, () => {
    let shop: ShopWorld
    let command: ReturnType<typeof orderCommands>
    beforeEach(async () => {
      shop = await openShopWorld(engine)
      command = orderCommands(shop)
    })
    afterEach(() => shop.store.remove())

    const replaceAbove = (height: number) =>
      shop.ledger.transaction((entries) => entries.retractAbove('chain:1', height))
    const finalize = (height: number) =>
      shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', height))
    // biome-ignore lint/suspicious/noExplicitAny: each command has a different answer
    const lost = async (): Promise<any[]> => (await command['orders.list']({ lost: true })) as never
    // biome-ignore lint/suspicious/noExplicitAny: each command has a different answer
    const show = async ({ order_id }: Order): Promise<any> => await command['orders.show']({ order_id })
    const logged = () => shop.logEvents.filter(([, event]) => event === 'payment_lost')

    test('a counted payment that does not return is named in the log, the list and the order, with its payout held', async () => {
      const channel = await shop.offer(shop.alice, 40)
      const order = await shop.buyChannel(shop.bob, channel)
      const reference = await shop.pay(order, { height: 7 })
      await replaceAbove(5)
      await finalize(6)
      expect(await lost()).toEqual([])
      expect(await command['payouts.due']({})).toMatchObject([{ is_held: true }])
      await finalize(7)
      await finalize(8)
      expect(logged()).toEqual([['error', 'payment_lost']])
      expect(shop.logFields.at(-1)).toEqual({
        ...{ order: order.id, goods: 'channel', amount: `${40n * UNIT}`, payout: 'held', reason: reference },
      })
      expect(await lost()).toMatchObject([
        { order_id: order.order_id, number: order.id, lost_payments: 1, status: 'confirmed' },
      ])
      const { payments, events } = await show(order)
      expect(payments).toMatchObject([{ state: 'gone', outcome: null, lost: 'lost' }])
      expect(events.at(-1)).toMatchObject({ what: 'payment lost, its payout is held' })
      expect(await isAnyLost(shop.storage)).toBe(true)
      expect((await shop.channel(channel, shop.bob)).owner_id).toBe(shop.bob.id)

      const paid = { order_id: order.order_id, reference: 'bank 1', ...BY }
      expect(String(await failureOf(command['payouts.paid'](paid)))).toContain('is held')
      const settled = await command['orders.settle-lost']({ order_id: order.order_id, ...BY })
      expect(settled).toMatchObject({ lost_payments: 0 })
      expect(await lost()).toEqual([])
      expect(await isAnyLost(shop.storage)).toBe(false)
      expect(await command['payouts.paid'](paid)).toMatchObject({ is_held: false })
      const again = command['orders.settle-lost']({ order_id: order.order_id, ...BY })
      expect(String(await failureOf(again))).toContain('no payment of')
    })

    test('a payout that was made before is named as paid', async () => {
      const order = await shop.buyChannel(shop.bob, await shop.offer(shop.alice))
      await shop.pay(order, { height: 7 })
      await command['payouts.paid']({ order_id: order.order_id, reference: 'bank 1', ...BY })
      await replaceAbove(5)
      await finalize(7)
      expect(shop.logFields.at(-1)).toMatchObject({ payout: 'paid' })
    })

    test('a payment that returns in another block counts again, and nobody is alarmed', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { height: 7 })
      await replaceAbove(5)
      await shop.pay(order, { reference, isFinal: false, height: 9 })
      await finalize(8)
      await finalize(9)
      expect(await shop.outcomes(order)).toEqual(['counted'])
      expect(logged()).toEqual([])
      expect(await shop.notices(shop.alice)).toHaveLength(1)
    })

    test('a payment that returns after it was lost is no longer lost', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { height: 7 })
      await replaceAbove(5)
      await finalize(7)
      expect(await lost()).toHaveLength(1)
      await shop.pay(order, { reference, isFinal: false, height: 30 })
      await finalize(30)
      expect(await lost()).toEqual([])
      expect(await shop.outcomes(order)).toEqual(['counted'])
      expect((await show(order)).events.at(-1)).toMatchObject({ what: 'payment found again' })
    })

    test('a payment that returns and is removed again is lost', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { height: 7 })
      await replaceAbove(5)
      await shop.pay(order, { reference, isFinal: false, height: 9 })
      await replaceAbove(6)
      await finalize(9)
      expect(await lost()).toHaveLength(1)
    })

    test('another payment takes the place of a missing one; if both are there in the end, one is given back', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { height: 7 })
      await replaceAbove(5)
      await shop.pay(order, { isFinal: false, height: 6, amount: BigInt(order.amount) + UNIT })
      await finalize(7)
      expect(logged()).toEqual([])
      expect(await shop.outcomes(order)).toEqual(['gone', `counted over ${UNIT}`])
      await shop.pay(order, { reference, isFinal: false, height: 12 })
      await finalize(12)
      expect(await shop.outcomes(order)).toEqual(['refund twice all', `counted over ${UNIT}`])
    })

    test('parts of a price that are lost are covered by later parts', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { height: 3, amount: UNIT })
      await shop.pay(order, { height: 7, amount: BigInt(order.amount) - UNIT })
      await replaceAbove(5)
      await finalize(7)
      expect(await lost()).toHaveLength(1)
      await shop.pay(order, { height: 8, amount: UNIT })
      expect(await lost()).toHaveLength(1)
      await shop.pay(order, { height: 9, amount: BigInt(order.amount) })
      expect(await lost()).toEqual([])
      expect(await shop.outcomes(order)).toEqual(['counted', 'gone', 'counted', `counted over ${2n * UNIT}`])
    })

    test('money that is not there is not given back, and money that was given back is lost', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { height: 3 })
      const [due, given] = [await shop.pay(order, { height: 7 }), await shop.pay(order, { height: 7 })]
      await command['orders.refund-recorded']({ payment: given, reference: 'bank 2', ...BY })
      await replaceAbove(5)
      await finalize(7)
      expect(await command['orders.list']({ refunds: true })).toEqual([])
      const refunded = command['orders.refund-recorded']({ payment: due, reference: 'bank 3', ...BY })
      expect(String(await failureOf(refunded))).toContain('waits to be given back')
      expect(logged()).toHaveLength(1)
      expect(shop.logFields.at(-1)).toMatchObject({ reason: given, payout: 'none' })
      await shop.pay(order, { reference: due, isFinal: false, height: 9 })
      await finalize(9)
      expect(await shop.outcomes(order)).toEqual(['counted', 'refund twice all', 'refund twice all'])
    })

    test('an excess that was given back before stays given back when its payment returns', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { height: 7, amount: BigInt(order.amount) + UNIT })
      await command['orders.refund-recorded']({ payment: reference, reference: 'bank 4', ...BY })
      await replaceAbove(5)
      await shop.pay(order, { height: 6, isFinal: false })
      await finalize(6)
      await shop.pay(order, { reference, height: 9, isFinal: false, amount: BigInt(order.amount) + UNIT })
      await finalize(9)
      expect((await show(order)).payments).toMatchObject([
        { reference, outcome: 'refund', refund_amount: order.amount, reason: 'twice', lost: null },
        { outcome: 'counted', refund_amount: null },
      ])
    })

    test('the final payments at an address are listed by asset, without those that are not final or missing', async () => {
      const [order, other] = [await shop.buyAlias(shop.alice), await shop.buyAlias(shop.bob, 'lake')]
      const kept = await shop.pay(order, { height: 4, amount: 2n })
      const short = await shop.pay(order, { height: 4, amount: 3n })
      await shop.pay(order, { height: 4, amount: 5n, asset: 'chain:1/other' })
      await shop.pay(order, { height: 4, amount: 7n, scope: 'manual', for: { orderId: order.order_id } })
      await shop.pay(order, { height: 7, amount: 11n })
      const last = await shop.pay(other, { height: 4, amount: 13n })
      await shop.pay(other, { height: 4, amount: 17n, isFinal: false })
      await replaceAbove(5)
      const addresses = [other.pay_to, order.pay_to, 'nobody']
      const found = await shop.ledger.transaction((entries) => entries.finalAt(addresses, order.asset))
      expect([...found].map(([payTo, amounts]) => [payTo, ...amounts])).toEqual([
        [order.pay_to, [kept, 2n], [short, 3n]],
        [other.pay_to, [last, 13n]],
      ])
    })

    test('a judged payment of a pending order is undone without a loss, and judged again', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { height: 7, amount: BigInt(order.amount) - UNIT })
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.outcomes(order)).toEqual(['refund short all'])
      await replaceAbove(5)
      await finalize(9)
      expect(await shop.outcomes(order)).toEqual(['gone'])
      expect(logged()).toEqual([])
    })
  })
}
