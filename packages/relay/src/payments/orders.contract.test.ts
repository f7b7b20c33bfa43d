// Placing orders, on every engine: one thing is held for one buyer, and nobody can block things without
// paying.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld } from '../../test/shop-world.ts'
import { trustClockAgain } from '../operations/clock-trust.ts'
import type { Order } from './order.ts'
import { moveDepositIndexAhead } from './orders.ts'

for (const engine of engines) {
  describe(`orders on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    test('an order has its price, its time, and a unique address', async () => {
      const order = await shop.buyAlias(shop.alice)
      const other = await shop.buyAlias(shop.bob, 'mountain')
      expect(order).toMatchObject({ kind: 'vanity', ref_id: 'river', status: 'pending' })
      expect(order.expires_at - order.created_at).toBe(15 * MINUTE_MS)
      expect(order.amount).toBe(`${order.price}000000`)
      expect(order.pay_to).not.toBe(other.pay_to)
      expect(order.order_id).toMatch(/^ord_[\w-]{24}$/)
      expect(order.page_token).not.toContain(order.order_id.slice(4))
    })

    test('after a backup was restored no address is used twice, even if the backup had no order', async () => {
      await shop.storage.transaction((sql) => moveDepositIndexAhead(sql, 1000))
      expect((await shop.buySeat(shop.alice)).deposit_index).toBe(1001)
      await shop.storage.transaction((sql) => moveDepositIndexAhead(sql, 1000))
      expect((await shop.buySeat(shop.alice)).deposit_index).toBe(2002)
    })

    test('if many accounts order one id at once, exactly one gets it and the others learn that it is taken', async () => {
      const buyers = [shop.alice, shop.bob, shop.carol]
      const results = await Promise.allSettled(buyers.map((buyer) => shop.buyAlias(buyer)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'ALIAS_TAKEN' })
      expect(await shop.storage.sql`SELECT id FROM orders`).toHaveLength(1)
    })

    test('if many accounts order one channel at once, exactly one gets it', async () => {
      const channel = await shop.offer(shop.alice)
      const results = await Promise.allSettled(
        [shop.bob, shop.carol].map((buyer) => shop.buyChannel(buyer, channel)),
      )
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CHANNEL_TAKEN' })
    })

    test('a buyer who orders the same thing again gets the same order', async () => {
      const [first, second] = await Promise.all([shop.buyAlias(shop.alice), shop.buyAlias(shop.alice)])
      expect(second.order_id).toBe(first.order_id)
      expect((await shop.buyAlias(shop.alice)).pay_to).toBe(first.pay_to)
    })

    test('an id that is assigned or has no price cannot be ordered', async () => {
      expect(await failureOf(shop.buyAlias(shop.bob, 'u12345678'))).toMatchObject({ code: 'NOT_FOUND' })
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order)
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      await shop.bind(shop.alice, order.order_id)
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      expect(await failureOf(shop.buyAlias(shop.alice))).toMatchObject({ code: 'ALIAS_TAKEN' })
    })

    test('an account has at most three pending orders', async () => {
      for (const alias of ['river', 'mountain', 'valley']) await shop.buyAlias(shop.alice, alias)
      expect(await failureOf(shop.buyAlias(shop.alice, 'meadow'))).toMatchObject({ code: 'TOO_MANY_ORDERS' })
      expect(await failureOf(shop.buySeat(shop.alice))).toMatchObject({ code: 'TOO_MANY_ORDERS' })
      await shop.buyAlias(shop.bob, 'meadow')
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.buyAlias(shop.alice, 'forest')
    })

    test('overdue orders count among the three while their payments are not known', async () => {
      for (const alias of ['river', 'mountain', 'valley']) await shop.buyAlias(shop.alice, alias)
      shop.chain.seenUntil = shop.clock.now()
      shop.clock.advance(60 * MINUTE_MS)
      expect(await failureOf(shop.buyAlias(shop.alice, 'meadow'))).toMatchObject({ code: 'TOO_MANY_ORDERS' })
      shop.chain.seenUntil = shop.clock.now()
      await shop.buyAlias(shop.alice, 'meadow')
    })

    test('at most three orders are placed, even if many are requested at the same time', async () => {
      const aliases = ['river', 'mountain', 'valley', 'meadow', 'forest', 'island']
      const results = await Promise.allSettled(aliases.map((alias) => shop.buyAlias(shop.alice, alias)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    })

    test('an unpaid order expires, and others can order what it held', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.clock.advance(15 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      shop.clock.advance(1)
      const next = await shop.buyAlias(shop.bob) // Before the sweep has run.
      expect(next.status).toBe('pending')
      expect(await shop.status(order)).toBe('expired')
      await shop.sweep()
      expect(await shop.status(next)).toBe('pending')
    })

    test('a clock jump expires no order, even before it is noticed, until the operator confirms the clock', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.clock.jump(24 * 60 * MINUTE_MS)
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      await shop.clockTrust.check()
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      for (const alias of ['mountain', 'valley']) await shop.buyAlias(shop.alice, alias)
      expect(await failureOf(shop.buyAlias(shop.alice, 'meadow'))).toMatchObject({ code: 'TOO_MANY_ORDERS' })
      expect(await shop.status(order)).toBe('pending')
      await trustClockAgain(shop.storage)
      await shop.clockTrust.check()
      await shop.buyAlias(shop.bob)
      expect(await shop.status(order)).toBe('expired')
    })

    test('a buyer whose order expired cannot order the same thing again for an hour', async () => {
      await shop.buyAlias(shop.alice)
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      const refused = await shop.buyAlias(shop.alice).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 'holdAgainSeconds' } })
      await shop.buyAlias(shop.alice, 'mountain')
      shop.clock.advance(60 * MINUTE_MS)
      await shop.buyAlias(shop.alice)
    })

    test('an address whose reservation expired cannot reserve the same id for an hour, then it is deleted', async () => {
      await shop.reserve('203.0.113.7')
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      expect(await failureOf(shop.reserve('203.0.113.7'))).toMatchObject({ code: 'RATE_LIMITED' })
      shop.clock.advance(60 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.storage.sql`SELECT party FROM orders WHERE party IS NOT NULL`).toEqual([])
      await shop.reserve('203.0.113.7')
    })

    test('an order does not expire before all payments up to its end are known', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.chain.seenUntil = order.expires_at // More blocks of the same moment may follow.
      shop.clock.advance(60 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      shop.chain.seenUntil = order.expires_at + 1
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
    })

    test('many orders that may have been paid do not keep later ones from expiring', async () => {
      const orders: Order[] = []
      for (let n = 0; n < 3; n++) {
        orders.push(await shop.buySeat(shop.alice))
        shop.clock.advance(1)
      }
      for (const order of orders.slice(0, 2)) await shop.pay(order, { isFinal: false })
      shop.clock.advance(15 * MINUTE_MS)
      await shop.sweep({ batchSize: 2 })
      expect(await Promise.all(orders.map((order) => shop.status(order)))).toEqual([
        'pending',
        'pending',
        'expired',
      ])
    })

    test('many orders that cannot be expired do not block those after them', async () => {
      const orders: Order[] = []
      for (const buyer of [shop.alice, shop.bob])
        for (let n = 0; n < 3; n++) orders.push(await shop.buySeat(buyer))
      for (const order of orders.slice(0, 4)) await shop.pay(order, { isFinal: false })
      await shop.storage.transaction((sql) => sql`UPDATE payments SET amount = 'no number'`)
      shop.clock.advance(15 * MINUTE_MS + 1)
      const after = await shop.sweep()
      expect(after?.id).toBe(orders[2]?.id)
      expect(await shop.sweep({ after })).toBeUndefined()
      expect(await Promise.all(orders.map((order) => shop.status(order)))).toEqual([
        'pending',
        'pending',
        'pending',
        'pending',
        'expired',
        'expired',
      ])
    })

    test('if no address is available, nothing of the order remains', async () => {
      shop.chain.isBroken = true
      expect(String(await failureOf(shop.buyAlias(shop.alice)))).toContain('the chain is unreachable')
      expect(await shop.storage.sql`SELECT id FROM orders`).toEqual([])
      expect(await shop.storage.sql`SELECT id FROM order_events`).toEqual([])
      shop.chain.isBroken = false
      await shop.buyAlias(shop.bob)
    })

    test('an order without a place to pay belongs to the provider that opens it later', async () => {
      const left = await shop.buyAlias(shop.alice)
      await shop.storage.transaction(async (sql) => {
        await sql`UPDATE orders SET pay_to = '', asset = '', amount = '', provider = 'another'`
        await sql`DELETE FROM order_destinations`
      })
      const order = await shop.buyAlias(shop.alice)
      expect(order).toMatchObject({ order_id: left.order_id, provider: 'chain' })
      await shop.pay(order)
      expect(await shop.status(order)).toBe('confirmed')
    })

    test('a deposit address is never used for a second order', async () => {
      const addresses = new Set<string>()
      const buyers = [shop.alice, shop.bob, shop.carol]
      for (const [at, buyer] of buyers.entries())
        for (const name of ['one', 'two', 'six'])
          addresses.add((await shop.buyAlias(buyer, `${name}${name}${at}`)).pay_to)
      expect(addresses.size).toBe(9)
    })

    test('an account cannot order its own channel, or a channel that is not for sale', async () => {
      const channel = await shop.offer(shop.alice)
      expect(await failureOf(shop.buyChannel(shop.alice, channel))).toMatchObject({ code: 'OWN_CHANNEL' })
      const order = await shop.buyChannel(shop.bob, channel)
      await shop.pay(order)
      expect(await failureOf(shop.buyChannel(shop.carol, channel))).toMatchObject({ code: 'CHANNEL_TAKEN' })
      expect(await failureOf(shop.buyChannel(shop.bob, channel))).toMatchObject({ code: 'OWN_CHANNEL' })
      shop.clock.advance(61 * MINUTE_MS)
      expect(await failureOf(shop.buyChannel(shop.carol, channel))).toMatchObject({ code: 'NOT_FOUND' })
    })
  })
}
