// Orders that are paid by hand and last for days, on every engine: one of each account, never one without an
// account, and no end that moves back.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AliasId, check } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { isUniqueViolation } from '../storage/storage.ts'
import { purchase } from '../vanity/purchase.ts'
import { searchVanity } from '../vanity/search.ts'
import { orderCommands } from './operator-orders.ts'
import type { Order } from './order.ts'
import { findPaymentView } from './payment-views.ts'
import type { OrderToOpen, PaymentProvider } from './provider.ts'
import { ManualPayments } from './providers/manual.ts'

const HOUR_MS = 60 * MINUTE_MS
const USUAL_MS = 15 * MINUTE_MS
const HOURS = 72
const LONG_MS = HOURS * HOUR_MS
const CHAIN = 'chain:1/token'
const BY_HAND = 'manual'
const BY = { who: 'ada', why: 'the bank says so' }

function byHand(holdHours: number | undefined): ManualPayments {
  return new ManualPayments({ payTo: 'the till', holdHours })
}

/** A processor that notes what it is asked to open. */
function desk() {
  const opened: OrderToOpen[] = []
  const provider: PaymentProvider = {
    name: 'webhook',
    methods: [{ asset: 'page', symbol: 'USDT', decimals: 6, network: 'Desk' }],
    isAvailable: () => true,
    open: async (order) => {
      opened.push(order)
      return { payTo: 'https://desk.example/', asset: 'page', amount: BigInt(order.price) * UNIT }
    },
    start: async () => undefined,
    stop: async () => undefined,
    seenUntil: (now) => now,
  }
  return { opened, provider }
}

for (const engine of engines) {
  describe(`long holds on ${engine.name}`, () => {
    let shop: ShopWorld
    let processor: ReturnType<typeof desk>
    beforeEach(async () => {
      processor = desk()
      shop = await openShopWorld(engine, {}, undefined, [byHand(HOURS), processor.provider])
    })
    afterEach(() => shop.store.remove())

    const choose = async (order: Order, asset = BY_HAND, { orders } = shop): Promise<Order> => {
      const chosen = await orders.choose(order.order_id, asset)
      if (!chosen) throw new Error('there is no such order or method')
      return chosen
    }
    const lengthOf = ({ created_at, expires_at }: Order): number => expires_at - created_at
    const pass = (ms: number): void => shop.clock.advance(ms)

    test('an order of an account lasts as long as the operator says if it is to be paid by hand', async () => {
      const order = await shop.buyAlias(shop.alice)
      expect(lengthOf(order)).toBe(USUAL_MS)
      const held = await choose(order)
      expect([lengthOf(held), held.pay_to, held.status]).toEqual([LONG_MS, 'the till', 'pending'])
      expect(await shop.buyAlias(shop.alice)).toEqual(held)
      expect(await findPaymentView(order.page_token, shop)).toMatchObject({
        ...{ state: 'waiting', kind: 'manual', expiresAt: held.expires_at },
      })
      const detail = await orderCommands(shop)['orders.show']({ order_id: order.order_id })
      const end = new Date(held.expires_at).toISOString()
      expect(detail).toMatchObject({
        order: { expires_at: end },
        events: [
          { who: 'relay', what: 'placed' },
          { who: 'relay', what: 'held longer', why: `it is to be paid by hand, until ${end}` },
        ],
      })
    })

    test('it does so at once if payment by hand is the first way that is available', async () => {
      shop.chain.isBroken = true
      expect(lengthOf(await shop.buyAlias(shop.alice))).toBe(LONG_MS)
      const channel = await shop.offer(shop.alice)
      expect(lengthOf(await shop.buyChannel(shop.bob, channel))).toBe(LONG_MS)
      expect(lengthOf(await shop.buySeat(shop.carol))).toBe(LONG_MS)
    })

    test('what it holds is neither offered nor sold to others until the relay’s clock is past its end', async () => {
      const ends = shop.endsOn(shop.storage)
      const offered = async () =>
        (await searchVanity(shop.storage.sql, shop.rules, 'river')).map(({ alias_id }): string => alias_id)
      const order = await shop.buyAlias(shop.alice)
      await choose(order)
      for (const ms of [USUAL_MS + 1, LONG_MS - USUAL_MS - 1]) {
        pass(ms)
        await ends.check()
        expect(await shop.status(order)).toBe('pending')
        expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
        expect(await offered()).not.toContain('river')
      }
      pass(1)
      await ends.check()
      expect(await shop.status(order)).toBe('expired')
      expect(await offered()).toContain('river')
      await shop.buyAlias(shop.bob)
    })

    test('an id without an account is held for the usual time, whatever is chosen', async () => {
      const order = await choose(await shop.reserve('192.0.2.1'))
      expect([order.asset, lengthOf(order)]).toEqual([BY_HAND, USUAL_MS])
      shop.chain.isBroken = true
      const first = await shop.reserve('192.0.2.2', 'mountain')
      expect([first.asset, lengthOf(first)]).toEqual([BY_HAND, USUAL_MS])
      pass(USUAL_MS + 1)
      await shop.sweep()
      expect([await shop.status(order), await shop.status(first)]).toEqual(['expired', 'expired'])
    })

    test('the time counts from the order; choosing again and again moves nothing, and no end moves back', async () => {
      const order = await shop.buyAlias(shop.alice)
      pass(10 * MINUTE_MS)
      const held = await choose(order)
      expect(held.expires_at).toBe(order.created_at + LONG_MS)
      for (const asset of [CHAIN, 'page', BY_HAND, CHAIN]) {
        pass(HOUR_MS)
        expect((await choose(order, asset)).expires_at).toBe(held.expires_at)
      }
      // What was sent to the bank on the first day is in time, whatever is chosen on the last one.
      await orderCommands(shop)['orders.confirm']({ order_id: order.order_id, ...BY })
      expect([await shop.status(order), await shop.outcomes(order)]).toEqual(['confirmed', ['counted']])
    })

    test('a second order of the account has the usual time, and another account its own longer one', async () => {
      const first = await choose(await shop.buyAlias(shop.alice))
      const second = await choose(await shop.buyAlias(shop.alice, 'mountain'))
      const seat = await choose(await shop.buySeat(shop.alice))
      expect([first, second, seat].map(lengthOf)).toEqual([LONG_MS, USUAL_MS, USUAL_MS])
      expect(lengthOf(await choose(await shop.buyAlias(shop.bob, 'valley')))).toBe(LONG_MS)
      // While both still wait, the second gets the longer time once the first is paid.
      await orderCommands(shop)['orders.confirm']({ order_id: first.order_id, ...BY })
      expect(lengthOf(await choose(second))).toBe(LONG_MS)
      pass(USUAL_MS + 1)
      await shop.sweep()
      expect([await shop.status(second), await shop.status(seat)]).toEqual(['pending', 'expired'])
    })

    test('of several orders that ask for the longer time at once, one gets it', async () => {
      const placed = await Promise.all(
        ['river', 'mountain', 'valley'].map((alias) => shop.buyAlias(shop.alice, alias)),
      )
      const chosen = await Promise.all(placed.map((order) => choose(order)))
      expect(chosen.map(lengthOf).sort((a, b) => a - b)).toEqual([USUAL_MS, USUAL_MS, LONG_MS])
    })

    test('the store itself lets no account have two', async () => {
      await choose(await shop.buyAlias(shop.alice))
      const { id } = await shop.buyAlias(shop.alice, 'mountain')
      const second = shop.storage.transaction(
        (sql) => sql`UPDATE orders SET is_held_long = 1 WHERE id = ${id}`,
      )
      expect(isUniqueViolation(await failureOf(second))).toBe(true)
    })

    test('what was held for long and not paid is held for the usual time until as much time has passed', async () => {
      await choose(await shop.buyAlias(shop.alice))
      pass(LONG_MS + HOUR_MS + 1)
      await shop.sweep()
      const again = await choose(await shop.buyAlias(shop.alice))
      expect(lengthOf(again)).toBe(USUAL_MS)
      // Other things are not affected, nor other accounts, nor what nobody else waits for.
      expect(lengthOf(await choose(await shop.buyAlias(shop.alice, 'mountain')))).toBe(LONG_MS)
      pass(USUAL_MS + 1)
      await shop.sweep()
      expect(lengthOf(await choose(await shop.buyAlias(shop.bob)))).toBe(LONG_MS)
      pass(2 * LONG_MS)
      await shop.sweep()
      expect(lengthOf(await choose(await shop.buyAlias(shop.alice)))).toBe(LONG_MS)
    })

    test('seats, of which there are enough for everybody, are not refused the longer time again', async () => {
      await choose(await shop.buySeat(shop.alice))
      pass(LONG_MS + 1)
      await shop.sweep()
      expect(lengthOf(await choose(await shop.buySeat(shop.alice)))).toBe(LONG_MS)
    })

    test('an order whose time is over gets no more of it', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.chain.seenUntil = shop.clock.now() // So that it stays pending.
      pass(USUAL_MS + 1)
      expect(await failureOf(choose(order))).toMatchObject({ code: 'ORDER_CLOSED' })
      shop.chain.seenUntil = Number.POSITIVE_INFINITY
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
    })

    test('a sweep that read an order before it got the longer time does not end it', async () => {
      const order = await shop.buyAlias(shop.alice)
      const paid = await shop.buyAlias(shop.bob, 'mountain')
      await shop.pay(paid, { amount: 1n })
      pass(USUAL_MS + 1)
      let isChosen = false
      const afterReading = {
        ...shop.storage,
        transaction: async <T>(work: Parameters<typeof shop.storage.transaction<T>>[0]) => {
          if (!isChosen) {
            isChosen = true
            pass(-1)
            await choose(order)
            await choose(paid)
            pass(1)
          }
          return await shop.storage.transaction(work)
        },
      }
      await shop.sweepOn(afterReading)
      expect([await shop.status(order), await shop.status(paid)]).toEqual(['pending', 'pending'])
    })

    test('money by any way of the order is in time until its end', async () => {
      const order = await shop.buyAlias(shop.alice)
      await choose(order)
      pass(LONG_MS - MINUTE_MS)
      await shop.pay(order)
      expect([await shop.status(order), await shop.outcomes(order)]).toEqual(['confirmed', ['counted']])
    })

    test('part of the price keeps nothing for longer, and is given back when the order ends', async () => {
      const order = await choose(await shop.buyAlias(shop.alice))
      await shop.pay(order, { amount: 1n, asset: CHAIN, for: { orderId: order.order_id } })
      pass(LONG_MS + 1)
      await shop.sweep()
      expect([await shop.status(order), await shop.outcomes(order)]).toEqual([
        'expired',
        ['refund short all'],
      ])
    })

    test('what the operator confirms at the end is in time, and one that ended meanwhile is bought late', async () => {
      const confirm = (order: Order) =>
        orderCommands(shop)['orders.confirm']({ order_id: order.order_id, ...BY })
      const order = await choose(await shop.buyAlias(shop.alice))
      const other = await choose(await shop.buyAlias(shop.bob, 'mountain'))
      pass(LONG_MS + 1)
      // Both at once: whichever is first, the money buys the id, which nobody else has.
      await Promise.all([confirm(order), shop.sweep()])
      expect([await shop.status(order), await shop.status(other)]).toEqual(['confirmed', 'expired'])
      await shop.buyAlias(shop.carol, 'mountain')
      await confirm(other)
      expect([await shop.status(other), await shop.outcomes(other)]).toEqual(['expired', ['refund late all']])
    })

    test('a processor is not asked to keep its rate of exchange for days', async () => {
      const order = await choose(await shop.buyAlias(shop.alice))
      pass(24 * HOUR_MS)
      await choose(order, 'page')
      expect(processor.opened.map(({ expiresAt }) => expiresAt)).toEqual([shop.clock.now() + USUAL_MS])
      const second = await shop.buyAlias(shop.bob, 'mountain')
      pass(MINUTE_MS)
      await choose(second, 'page')
      expect(processor.opened.at(-1)?.expiresAt).toBe(second.expires_at)
    })

    test('the order ends with its account', async () => {
      const order = await choose(await shop.buyAlias(shop.alice))
      await shop.remove(shop.alice)
      expect(await shop.status(order)).toBe('expired')
      await shop.buyAlias(shop.bob)
    })

    test('an order whose account is deleted while its place is opened gets no more time', async () => {
      const opening = Object.assign(byHand(HOURS), {
        open: async ({ price }: OrderToOpen) => {
          await shop.remove(shop.alice)
          return { payTo: 'the till', asset: BY_HAND, amount: BigInt(price) * UNIT }
        },
      })
      shop.chain.isBroken = true
      const parts = { orders: shop.restarted([opening]).orders, rules: shop.rules }
      const order = await purchase(check(AliasId, 'river'), shop.alice.id, parts)
      expect([order.status, order.asset, lengthOf(order)]).toEqual(['expired', BY_HAND, USUAL_MS])
      await shop.buyAlias(shop.bob)
    })

    describe('after the setting changed', () => {
      test('orders keep the end they were given', async () => {
        const order = await shop.buyAlias(shop.alice)
        const held = await choose(await shop.buyAlias(shop.bob, 'mountain'))
        for (const hours of [undefined, 1, 2 * HOURS]) {
          const { sweep, orders } = shop.restarted([byHand(hours)])
          await sweep()
          expect((await choose(held, BY_HAND, { ...shop, orders })).expires_at).toBe(held.expires_at)
        }
        const without = shop.restarted([byHand(undefined)])
        expect(lengthOf(await choose(order, BY_HAND, { ...shop, ...without }))).toBe(USUAL_MS)
        pass(LONG_MS)
        await without.sweep()
        expect([await shop.status(order), await shop.status(held)]).toEqual(['expired', 'pending'])
        pass(1)
        await without.sweep()
        expect(await shop.status(held)).toBe('expired')
      })

      test('without payment by hand, an order that got the longer time still ends at its end', async () => {
        const held = await choose(await shop.buyAlias(shop.alice))
        const { sweep } = shop.restarted([])
        pass(LONG_MS)
        await sweep()
        expect(await shop.status(held)).toBe('pending')
        pass(1)
        await sweep()
        expect(await shop.status(held)).toBe('expired')
      })

      test('a time that is shorter than the usual one shortens nothing', async () => {
        const day = await openShopWorld(engine, { orderSeconds: 86_400 }, undefined, [byHand(1)])
        const order = await choose(await day.buyAlias(day.alice), BY_HAND, day)
        expect(lengthOf(order)).toBe(24 * HOUR_MS)
        const rows = await day.storage.sql`SELECT id FROM orders WHERE is_held_long = 1`
        expect(rows).toEqual([])
        await day.store.remove()
      })
    })
  })
}
