// Money that comes after an order's end, on every engine: the block's time decides, and late money buys only
// what is for sale now, at no more than was paid.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChannelId } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { setSalePrice } from '../channels/catalog.ts'
import { orderCommands } from './operator-orders.ts'
import { findOrder, type Order } from './order.ts'

for (const engine of engines) {
  describe(`late payments on ${engine.name}`, () => {
    let shop: ShopWorld
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sotto-prices-'))
      await writePrices(10)
      shop = await openShopWorld(engine, { channelSeats: 10 }, join(folder, 'prices.json'))
    })
    afterEach(async () => {
      await shop.store.remove()
      await rm(folder, { recursive: true })
    })

    async function writePrices(price: number, reserved: readonly string[] = []): Promise<void> {
      const rules = [{ pattern: '[a-z]{3,}', tier: 'standard', price_usdt: price }]
      await writeFile(join(folder, 'prices.json'), JSON.stringify({ rules, reserved }))
    }
    async function setPrices(price: number, reserved?: readonly string[]): Promise<void> {
      await writePrices(price, reserved)
      shop.clock.advance(1000) // The list is read again at most every second.
    }
    const list = (channel: ChannelId, price: number | null) =>
      shop.storage.transaction((sql) => setSalePrice(sql, { id: channel, caller: shop.alice.id }, price))
    const priceOf = async ({ order_id }: Order) => (await findOrder(shop.storage.sql, order_id))?.price
    /** Places an order and lets it expire. */
    async function expired(place: () => Promise<Order>): Promise<Order> {
      const order = await place()
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
      return order
    }

    test('an id whose price rose after the order expired is not sold for the old price', async () => {
      const order = await expired(() => shop.buyAlias(shop.alice))
      await setPrices(500)
      await shop.pay(order)
      expect(await shop.status(order)).toBe('expired')
      expect(await shop.outcomes(order)).toEqual(['refund late all'])
      await shop.buyAlias(shop.bob)
    })

    test('an id that was reserved after the order expired is not sold', async () => {
      const order = await expired(() => shop.buyAlias(shop.alice))
      await setPrices(10, ['river'])
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual(['refund late all'])
    })

    test('a payment whose block was in time buys at the order’s price, although the order is recorded as expired', async () => {
      const [order, taken] = [await shop.buyAlias(shop.alice), await shop.buyAlias(shop.alice, 'valley')]
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      await shop.buyAlias(shop.bob, 'valley')
      await setPrices(500, ['river'])
      await shop.pay(order, { at: order.expires_at })
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted'])
      expect(await priceOf(order)).toBe(10)
      await shop.bind(shop.alice, order.order_id)
      await shop.pay(taken, { at: taken.expires_at })
      expect(await shop.outcomes(taken)).toEqual(['refund gone all'])
    })

    test('a late payment of an order that was not swept yet waits for its end, and is judged as late', async () => {
      const [dear, same] = [await shop.buyAlias(shop.alice), await shop.buyAlias(shop.alice, 'valley')]
      shop.clock.advance(16 * MINUTE_MS)
      await shop.pay(same)
      await shop.sweep()
      expect(await shop.outcomes(same)).toEqual(['counted'])
      expect(await shop.status(dear)).toBe('expired')
      const channel = await shop.offer(shop.alice, 40)
      const order = await shop.buyChannel(shop.bob, channel)
      shop.clock.advance(16 * MINUTE_MS)
      await list(channel, 50)
      await shop.pay(order)
      expect(await shop.status(order)).toBe('pending')
      expect(await failureOf(shop.buyChannel(shop.carol, channel))).toMatchObject({ code: 'CHANNEL_TAKEN' })
      await shop.sweep()
      expect(await shop.outcomes(order)).toEqual(['refund late all'])
      await shop.buyChannel(shop.carol, channel)
    })

    test('late money goes to a payment in time that becomes final afterwards only as a second payment', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { isFinal: false, height: 7 })
      shop.clock.advance(16 * MINUTE_MS)
      await shop.pay(order)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 7))
      expect(await shop.outcomes(order)).toEqual(['counted', 'refund twice all'])
    })

    test('a payer who is late and pays more than the present price gets the excess back', async () => {
      const order = await expired(() => shop.buyAlias(shop.alice))
      await setPrices(7)
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual([`counted over ${3n * UNIT}`])
      expect(await priceOf(order)).toBe(7)
    })

    test('late payments buy at a higher price if they reach it, and an earlier part counts with them', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { amount: 6n * UNIT })
      shop.clock.advance(16 * MINUTE_MS)
      await setPrices(12)
      await shop.pay(order, { amount: 6n * UNIT })
      await shop.sweep()
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted'])
      expect(await priceOf(order)).toBe(12)
    })

    test('a price that falls does not sell an order that was paid too little in time', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { amount: 6n * UNIT })
      shop.clock.advance(16 * MINUTE_MS)
      await setPrices(5)
      await shop.sweep()
      expect(await shop.outcomes(order)).toEqual(['refund short all'])
    })

    test('a channel is sold late only while it is listed, at its listed price, and its seller is owed that price', async () => {
      const [dear, gone, cheap] = [
        await shop.offer(shop.alice),
        await shop.offer(shop.alice),
        await shop.offer(shop.alice),
      ]
      const orders: Order[] = []
      for (const channel of [dear, gone, cheap]) orders.push(await shop.buyChannel(shop.bob, channel))
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      await list(dear, 41)
      await list(gone, null)
      await list(cheap, 30)
      for (const order of orders) await shop.pay(order)
      expect(await Promise.all(orders.map((order) => shop.outcomes(order)))).toEqual([
        ['refund late all'],
        ['refund late all'],
        [`counted over ${10n * UNIT}`],
      ])
      expect([...(await shop.storage.sql`SELECT amount FROM payouts`)]).toEqual([{ amount: 30 } as never])
      expect((await shop.channel(cheap, shop.bob)).owner_id).toBe(shop.bob.id)
    })

    test('a seller who changes the price while late money is judged either sells at the old one or keeps the channel', async () => {
      for (let round = 0; round < 4; round++) {
        const channel = await shop.offer(shop.alice, 40)
        const order = await shop.buyChannel(shop.bob, channel)
        shop.clock.advance(16 * MINUTE_MS)
        await shop.sweep()
        const [changed] = await Promise.allSettled([list(channel, 90), shop.pay(order)])
        const { owner_id, sale_price } = await shop.channel(channel, shop.bob)
        const isSold = (await shop.status(order)) === 'confirmed'
        expect({ owner_id, sale_price, changed: changed.status }).toEqual(
          isSold
            ? { owner_id: shop.bob.id, sale_price: null, changed: 'rejected' }
            : { owner_id: shop.alice.id, sale_price: 90, changed: 'fulfilled' },
        )
      }
    })

    test('a seat is sold late at its price', async () => {
      const order = await expired(() => shop.buySeat(shop.alice))
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual(['counted'])
    })

    test('an operator’s word for a pending order counts as in time, and for an ended one as late', async () => {
      const commands = orderCommands(shop)
      const [waiting, ended] = [await shop.buyAlias(shop.alice), await shop.buyAlias(shop.alice, 'valley')]
      shop.clock.advance(16 * MINUTE_MS)
      const confirm = ({ order_id }: Order) =>
        commands['orders.confirm']({ order_id, who: 'ops', why: 'bank statement' })
      expect(await confirm(waiting)).toMatchObject({ status: 'confirmed' })
      await shop.sweep()
      await setPrices(500)
      expect(await confirm(ended)).toMatchObject({ status: 'expired', refunds_due: 1 })
    })
  })
}
