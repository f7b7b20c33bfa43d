// Placing orders, on every engine: one thing is held for one buyer, and nobody holds what they do not mean to pay for.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld } from '../../test/shop-world.ts'
import { resumeExpiry } from '../messages/messages.ts'
import type { Order } from './order.ts'
import { moveDepositIndexAhead } from './orders.ts'

for (const engine of engines) {
  describe(`orders on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    test('an order has its price, its time, and an address nobody else has', async () => {
      const order = await shop.buyAlias(shop.alice)
      const other = await shop.buyAlias(shop.bob, 'mountain')
      expect(order).toMatchObject({ kind: 'vanity', ref_id: 'river', status: 'pending' })
      expect(order.expires_at - order.created_at).toBe(15 * MINUTE_MS)
      expect(order.amount).toBe(`${order.price}000000`)
      expect(order.pay_to).not.toBe(other.pay_to)
      expect(order.order_id).toMatch(/^ord_[\w-]{24}$/)
      expect(order.page_token).not.toContain(order.order_id.slice(4))
    })

    test('after a backup was put back no address is given a second time, also if it knew of no order', async () => {
      await shop.storage.transaction((sql) => moveDepositIndexAhead(sql, 1000))
      expect((await shop.buySeat(shop.alice)).deposit_index).toBe(1001)
      await shop.storage.transaction((sql) => moveDepositIndexAhead(sql, 1000))
      expect((await shop.buySeat(shop.alice)).deposit_index).toBe(2002)
    })

    test('of many who order one id at once exactly one has it, the others are told that it is taken', async () => {
      const buyers = [shop.alice, shop.bob, shop.carol]
      const results = await Promise.allSettled(buyers.map((buyer) => shop.buyAlias(buyer)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'ALIAS_TAKEN' })
      expect(await shop.storage.sql`SELECT id FROM orders`).toHaveLength(1)
    })

    test('of many who order one channel at once exactly one has it', async () => {
      const channel = await shop.offer(shop.alice)
      const results = await Promise.allSettled(
        [shop.bob, shop.carol].map((buyer) => shop.buyChannel(buyer, channel)),
      )
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CHANNEL_TAKEN' })
    })

    test('who asks again for what is held for them gets the same order', async () => {
      const [first, second] = await Promise.all([shop.buyAlias(shop.alice), shop.buyAlias(shop.alice)])
      expect(second.order_id).toBe(first.order_id)
      expect((await shop.buyAlias(shop.alice)).pay_to).toBe(first.pay_to)
    })

    test('an id that is somebody’s, or that has no price, cannot be ordered', async () => {
      await expect(shop.buyAlias(shop.bob, 'u12345678')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order)
      await expect(shop.buyAlias(shop.bob)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
      await shop.bind(shop.alice, order.order_id)
      await expect(shop.buyAlias(shop.bob)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
      await expect(shop.buyAlias(shop.alice)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
    })

    test('no more than three orders of an account wait at once', async () => {
      for (const alias of ['river', 'mountain', 'valley']) await shop.buyAlias(shop.alice, alias)
      await expect(shop.buyAlias(shop.alice, 'meadow')).rejects.toMatchObject({ code: 'TOO_MANY_ORDERS' })
      await expect(shop.buySeat(shop.alice)).rejects.toMatchObject({ code: 'TOO_MANY_ORDERS' })
      await shop.buyAlias(shop.bob, 'meadow')
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.buyAlias(shop.alice, 'forest')
    })

    test('while nobody knows what was paid, orders that are over count among the three', async () => {
      for (const alias of ['river', 'mountain', 'valley']) await shop.buyAlias(shop.alice, alias)
      shop.chain.seenUntil = shop.clock.now()
      shop.clock.advance(60 * MINUTE_MS)
      await expect(shop.buyAlias(shop.alice, 'meadow')).rejects.toMatchObject({ code: 'TOO_MANY_ORDERS' })
      shop.chain.seenUntil = shop.clock.now()
      await shop.buyAlias(shop.alice, 'meadow')
    })

    test('no more than three at once, however many are asked for together', async () => {
      const aliases = ['river', 'mountain', 'valley', 'meadow', 'forest', 'island']
      const results = await Promise.allSettled(aliases.map((alias) => shop.buyAlias(shop.alice, alias)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    })

    test('an order that was not paid ends with its time, and others can have what it held', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.clock.advance(15 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      await expect(shop.buyAlias(shop.bob)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
      shop.clock.advance(1)
      const next = await shop.buyAlias(shop.bob) // Before any sweep.
      expect(next.status).toBe('pending')
      expect(await shop.status(order)).toBe('expired')
      await shop.sweep()
      expect(await shop.status(next)).toBe('pending')
    })

    test('a clock that jumped ends nobody’s order, also before anybody noticed, until the operator says go on', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.clock.jump(24 * 60 * MINUTE_MS)
      await expect(shop.buyAlias(shop.bob)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
      await shop.expiry.sweep()
      await expect(shop.buyAlias(shop.bob)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
      for (const alias of ['mountain', 'valley']) await shop.buyAlias(shop.alice, alias)
      await expect(shop.buyAlias(shop.alice, 'meadow')).rejects.toMatchObject({ code: 'TOO_MANY_ORDERS' })
      expect(await shop.status(order)).toBe('pending')
      await resumeExpiry(shop.storage)
      await shop.expiry.sweep()
      await shop.buyAlias(shop.bob)
      expect(await shop.status(order)).toBe('expired')
    })

    test('who let a hold run out may not hold the same again for an hour', async () => {
      await shop.buyAlias(shop.alice)
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      const refused = await shop.buyAlias(shop.alice).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 'holdAgainSeconds' } })
      await shop.buyAlias(shop.alice, 'mountain')
      shop.clock.advance(60 * MINUTE_MS)
      await shop.buyAlias(shop.alice)
    })

    test('an address that let a reserve run out may not reserve the same again for an hour, and is forgotten then', async () => {
      await shop.reserve('203.0.113.7')
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      await expect(shop.reserve('203.0.113.7')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
      shop.clock.advance(60 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.storage.sql`SELECT party FROM orders WHERE party IS NOT NULL`).toEqual([])
      await shop.reserve('203.0.113.7')
    })

    test('an order is not over before it is known what was paid until then', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.chain.seenUntil = order.expires_at // Blocks of the same moment may be still to come.
      shop.clock.advance(60 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      await expect(shop.buyAlias(shop.bob)).rejects.toMatchObject({ code: 'ALIAS_TAKEN' })
      shop.chain.seenUntil = order.expires_at + 1
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
    })

    test('however many orders may have been paid, those behind them end', async () => {
      const orders: Order[] = []
      for (let n = 0; n < 3; n++) {
        orders.push(await shop.buySeat(shop.alice))
        shop.clock.advance(1)
      }
      for (const order of orders.slice(0, 2)) await shop.pay(order, { isFinal: false })
      shop.clock.advance(15 * MINUTE_MS)
      await shop.sweep({ pageSize: 2 })
      expect(await Promise.all(orders.map((order) => shop.status(order)))).toEqual([
        'pending',
        'pending',
        'expired',
      ])
    })

    test('however many orders cannot be ended, those behind them are', async () => {
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

    test('where no address can be had nothing is left of the order', async () => {
      shop.chain.isBroken = true
      await expect(shop.buyAlias(shop.alice)).rejects.toThrow('the chain is not there')
      expect(await shop.storage.sql`SELECT id FROM orders`).toEqual([])
      expect(await shop.storage.sql`SELECT id FROM order_events`).toEqual([])
      shop.chain.isBroken = false
      await shop.buyAlias(shop.bob)
    })

    test('an order that was left unopened belongs to the provider that opens it, and is paid there', async () => {
      const left = await shop.buyAlias(shop.alice)
      await shop.storage.transaction(
        (sql) => sql`UPDATE orders SET pay_to = '', asset = '', amount = '', provider = 'another'`,
      )
      const order = await shop.buyAlias(shop.alice)
      expect(order).toMatchObject({ order_id: left.order_id, provider: 'chain' })
      await shop.pay(order)
      expect(await shop.status(order)).toBe('confirmed')
    })

    test('a deposit address is never given to a second order', async () => {
      const addresses = new Set<string>()
      const buyers = [shop.alice, shop.bob, shop.carol]
      for (const [at, buyer] of buyers.entries())
        for (const name of ['one', 'two', 'six'])
          addresses.add((await shop.buyAlias(buyer, `${name}${name}${at}`)).pay_to)
      expect(addresses.size).toBe(9)
    })

    test('one’s own channel, and one that is not for sale, cannot be ordered', async () => {
      const channel = await shop.offer(shop.alice)
      await expect(shop.buyChannel(shop.alice, channel)).rejects.toMatchObject({ code: 'OWN_CHANNEL' })
      const order = await shop.buyChannel(shop.bob, channel)
      await shop.pay(order)
      await expect(shop.buyChannel(shop.carol, channel)).rejects.toMatchObject({ code: 'CHANNEL_TAKEN' })
      await expect(shop.buyChannel(shop.bob, channel)).rejects.toMatchObject({ code: 'OWN_CHANNEL' })
      shop.clock.advance(61 * MINUTE_MS)
      await expect(shop.buyChannel(shop.carol, channel)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    })
  })
}
