// What payments do to orders, on every engine: a payment confirms its order, or it is recorded for refund. No
// payment is lost or counted twice.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ProtocolError } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { lockAccounts } from '../accounts/accounts.ts'
import { channelGoods } from '../channels/channels.ts'
import { orderChannel } from '../channels/trade.ts'
import { lockOrder } from './order.ts'

for (const engine of engines) {
  describe(`the ledger on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    test('paying the price in time confirms the order once and notifies its payer', async () => {
      const order = await shop.buyAlias(shop.alice)
      const rings: unknown[] = []
      shop.bus.listen((account, ring) => rings.push([account, ring.kind]))
      const reference = await shop.pay(order)
      await shop.pay(order, { reference })
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted'])
      const frame = { type: 'payment_confirmed', order_id: order.order_id, ref_id: 'river' }
      expect(await shop.notices(shop.alice)).toEqual([frame])
      expect(rings).toEqual([[shop.alice.id, 'notice']])
    })

    test('a payment counts once it is final, and the order keeps its hold meanwhile', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { isFinal: false, height: 7 })
      expect(await shop.status(order)).toBe('pending')
      shop.clock.advance(60 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 7))
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted'])
      expect(reference).toBe('chain:1/1')
    })

    test('a payment that a reorganisation removed no longer keeps the hold', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { isFinal: false, height: 7 })
      shop.clock.advance(60 * MINUTE_MS)
      await shop.ledger.transaction((entries) => entries.retractAbove('chain:1', 6))
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 9))
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
      expect(await shop.outcomes(order)).toEqual(['gone'])
    })

    test('a payment that a reorganisation moved to another block counts there', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { isFinal: false, height: 7 })
      await shop.ledger.transaction((entries) => entries.retractAbove('chain:1', 6))
      await shop.pay(order, { reference, isFinal: false, height: 8 })
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 7))
      expect(await shop.status(order)).toBe('pending')
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 8))
      expect(await shop.status(order)).toBe('confirmed')
    })

    test('a final payment stays as it is when it is reported again, and only a reorganisation retracts it', async () => {
      const order = await shop.buyAlias(shop.alice)
      const reference = await shop.pay(order, { height: 7 })
      await shop.ledger.transaction((entries) => entries.retract(reference))
      await shop.ledger.transaction((entries) => entries.retractSeen('chain:1', 1))
      await shop.pay(order, { reference, isFinal: false, height: 9, amount: 1n })
      expect(await shop.outcomes(order)).toEqual(['counted'])
    })

    test('the amount of a final payment may grow until it is judged', async () => {
      const order = await shop.buyAlias(shop.alice)
      const price = BigInt(order.amount)
      const reference = await shop.pay(order, { amount: price - 1n })
      for (const less of [{ amount: 9n }, { amount: price, isFinal: false }, { amount: price - 1n }]) {
        await shop.pay(order, { reference, ...less })
        expect([await shop.status(order), await shop.outcomes(order)]).toEqual(['pending', ['final']])
      }
      shop.clock.advance(20 * MINUTE_MS)
      await shop.pay(order, { reference, amount: price })
      expect(await shop.status(order)).toBe('confirmed')
      await shop.pay(order, { reference, amount: price * 10n })
      expect(await shop.outcomes(order)).toEqual(['counted'])
    })

    test('two payments together confirm an order; the excess is refunded', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { amount: UNIT })
      expect(await shop.status(order)).toBe('pending')
      await shop.pay(order, { amount: BigInt(order.amount) })
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted over 1000000'])
    })

    test('too little money is refunded when the order ends, and so is money that follows', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { amount: BigInt(order.amount) - 1n })
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
      await shop.pay(order, { amount: 1n })
      expect(await shop.outcomes(order)).toEqual(['refund short all', 'refund short all'])
      expect(await shop.notices(shop.alice)).toEqual([])
    })

    test('a payment seen by a provider that is no longer set up does not keep an order open for ever', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { isFinal: false, height: 7 })
      await shop.storage.transaction(async (sql) => {
        await sql`UPDATE order_destinations SET asset = 'another:1/token', provider = 'another'`
        await sql`UPDATE payments SET asset = 'another:1/token'`
      })
      shop.clock.advance(30 * 24 * 60 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.status(order)).toBe('pending')
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
      await shop.buyAlias(shop.bob)
    })

    test('a payment of too little does not keep an order open, neither before it is final nor after', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { amount: UNIT, isFinal: false, height: 3 })
      shop.clock.advance(15 * MINUTE_MS + 1)
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 3))
      expect(await shop.outcomes(order)).toEqual(['refund short all'])
    })

    test('a second payment of the price is refunded', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order)
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual(['counted', 'refund twice all'])
      expect(await shop.notices(shop.alice)).toHaveLength(1)
    })

    test('a payment in another token or on another chain does not count and is refunded', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { asset: 'chain:1/other' })
      await shop.pay(order, { asset: 'chain:1/other', problem: 'wrong_token' })
      await shop.pay(order, { scope: 'chain:2', problem: 'wrong_chain' })
      expect(await shop.status(order)).toBe('pending')
      const all = ['refund wrong_token all', 'refund wrong_token all', 'refund wrong_chain all']
      expect(await shop.outcomes(order)).toEqual(all)
    })

    test('a late payment confirms the order if its goods are still free', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      await shop.pay(order)
      expect(await shop.status(order)).toBe('confirmed')
      expect(await failureOf(shop.buyAlias(shop.bob))).toMatchObject({ code: 'ALIAS_TAKEN' })
      await shop.bind(shop.alice, order.order_id)
    })

    test('a late payment is refunded if the goods are not free', async () => {
      const order = await shop.buyAlias(shop.alice)
      shop.clock.advance(16 * MINUTE_MS)
      const next = await shop.buyAlias(shop.bob)
      await shop.pay(order)
      expect(await shop.status(order)).toBe('expired')
      expect(await shop.outcomes(order)).toEqual(['refund late all'])
      await shop.pay(next)
      await shop.bind(shop.bob, next.order_id)
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual(['refund late all', 'refund late all'])
    })

    test('a payment to an unknown address is not recorded', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { for: { payTo: 'address 77' } })
      await shop.pay(order, { amount: 0n })
      expect(await shop.storage.sql`SELECT id FROM payments`).toEqual([])
    })

    test('a channel changes its owner in one transaction, is delisted, and its seller is owed the price', async () => {
      const channel = await shop.offer(shop.alice, 40)
      const order = await shop.buyChannel(shop.bob, channel)
      expect(order.price).toBe(40)
      await shop.pay(order)
      const sold = await shop.channel(channel, shop.bob)
      expect(sold).toMatchObject({ owner_id: shop.bob.id, sale_price: null })
      const payouts = await shop.storage.sql`SELECT order_number, seller_id, amount, paid_at FROM payouts`
      expect([...payouts]).toEqual([
        { order_number: order.id, seller_id: shop.alice.id, amount: 40, paid_at: null } as never,
      ])
      const frame = { type: 'payment_confirmed', order_id: order.order_id, ref_id: channel }
      expect(await shop.notices(shop.bob)).toEqual([frame])
    })

    test('the price of a channel is that of its order, even if its listing changes', async () => {
      const channel = await shop.offer(shop.alice, 40)
      const order = await shop.buyChannel(shop.bob, channel)
      await shop.storage.transaction(
        (sql) => sql`UPDATE channels SET sale_price = NULL WHERE channel_id = ${channel}`,
      )
      await shop.pay(order)
      expect(await shop.status(order)).toBe('confirmed')
      expect((await shop.channel(channel, shop.bob)).owner_id).toBe(shop.bob.id)
    })

    test('deleting a channel ends its order, and payments for it are refunded', async () => {
      const channel = await shop.offer(shop.alice)
      const order = await shop.buyChannel(shop.bob, channel)
      await shop.pay(order, { amount: UNIT })
      await shop.remove(shop.alice)
      expect(await shop.status(order)).toBe('expired')
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual(['refund gone all', 'refund gone all'])
      expect(await shop.storage.sql`SELECT id FROM payouts`).toEqual([])
    })

    test('a late payment for a channel that is no longer for sale is refunded', async () => {
      const channel = await shop.offer(shop.alice, 40)
      const order = await shop.buyChannel(shop.bob, channel)
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      await shop.storage.transaction(
        (sql) => sql`UPDATE channels SET sale_price = 50 WHERE channel_id = ${channel}`,
      )
      await shop.pay(order)
      expect(await shop.outcomes(order)).toEqual(['refund late all'])
      expect(await shop.storage.sql`SELECT id FROM orders WHERE holds IS NOT NULL`).toEqual([])
    })

    test('each paid seat allows one more channel', async () => {
      for (const order of [await shop.buySeat(shop.alice), await shop.buySeat(shop.alice)])
        await shop.pay(order)
      expect([...(await shop.storage.sql`SELECT account_id, bought FROM channel_seats`)]).toEqual([
        { account_id: shop.alice.id, bought: 2 } as never,
      ])
    })

    test('a paid id stays reserved for its payer until it is bound, and is bound once', async () => {
      const order = await shop.buyAlias(shop.alice)
      expect(await failureOf(shop.bind(shop.alice, order.order_id))).toMatchObject({
        code: 'ORDER_NOT_CONFIRMED',
      })
      await shop.pay(order)
      shop.clock.advance(365 * 24 * 60 * MINUTE_MS)
      await shop.sweep()
      expect(await failureOf(shop.bind(shop.bob, order.order_id))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await shop.bind(shop.alice, order.order_id)).toEqual({ alias: 'river' as never, isNew: true })
      expect(await shop.bind(shop.alice, order.order_id)).toEqual({ alias: 'river' as never, isNew: false })
    })

    test('a reservation belongs to the account that presents it first', async () => {
      const order = await shop.reserve('203.0.113.7')
      await shop.pay(order)
      const results = await Promise.allSettled([
        shop.bind(shop.alice, order.order_id),
        shop.bind(shop.bob, order.order_id),
      ])
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('deleting an account ends its orders, and unused payments are refunded', async () => {
      const paid = await shop.buyAlias(shop.alice)
      await shop.pay(paid)
      const waiting = await shop.buyAlias(shop.alice, 'mountain')
      await shop.remove(shop.alice)
      await shop.pay(waiting)
      expect(await shop.outcomes(paid)).toEqual(['refund account_deleted all'])
      expect(await shop.outcomes(waiting)).toEqual(['refund account_deleted all'])
      await shop.buyAlias(shop.bob)
      await shop.buyAlias(shop.bob, 'mountain')
    })

    test('a payment that is reported many times at once counts once', async () => {
      const order = await shop.buyAlias(shop.alice)
      const same = { reference: 'chain:1/same' }
      await Promise.all(Array.from({ length: 8 }, () => shop.pay(order, same)))
      expect(await shop.outcomes(order)).toEqual(['counted'])
      expect(await shop.notices(shop.alice)).toHaveLength(1)
    })

    test('a block full of tiny payments takes time proportional to their number', async () => {
      const order = await shop.buyAlias(shop.alice)
      const read = { rows: 0 }
      const counting: typeof shop.storage = {
        ...shop.storage,
        transaction: (work) =>
          shop.storage.transaction((sql) =>
            work(async <Row extends object>(...query: Parameters<typeof sql>) => {
              const rows = await sql<Row>(...query)
              read.rows += rows.length
              return rows
            }),
          ),
      }
      const { ledger } = shop.on(counting)
      const dust = {
        scope: 'chain:1',
        for: { payTo: order.pay_to },
        asset: 'chain:1/dust',
        amount: 1n,
      } as const
      for (const isFinal of [false, true])
        await ledger.transaction(async (entries) => {
          for (let place = 0; place < 200; place++) {
            const reference = `chain:1/${isFinal}/${place}`
            await entries.record({
              ...dust,
              reference,
              at: shop.clock.now(),
              isFinal,
              problem: 'wrong_token',
            })
          }
        })
      expect(read.rows).toBeLessThan(2000)
      await shop.pay(order)
      expect(await shop.status(order)).toBe('confirmed')
    })

    test('judging many orders does not deadlock with other transactions', async () => {
      const [first, second] = [await shop.buyAlias(shop.bob), await shop.buyAlias(shop.alice, 'mountain')]
      const runs = { judged: 0, other: 0 }
      const isFirstLocked = Promise.withResolvers<void>()
      const other = shop.storage.transaction(async (sql) => {
        runs.other += 1
        await lockAccounts(sql, [shop.alice.id])
        isFirstLocked.resolve()
        await Bun.sleep(200) // Meanwhile the judgement starts, unless it has to wait for this transaction.
        await lockAccounts(sql, [shop.bob.id])
      })
      await isFirstLocked.promise
      const judged = shop.ledger.transaction(async (entries) => {
        runs.judged += 1
        for (const { order_id: orderId, asset, amount } of [first, second])
          await entries.record({
            ...{ reference: `manual/${orderId}`, scope: 'manual', for: { orderId }, asset },
            ...{ amount: BigInt(amount), at: shop.clock.now(), isFinal: true },
          })
      })
      await Promise.all([other, judged])
      expect(runs).toEqual({ judged: 1, other: 1 })
      expect([await shop.status(first), await shop.status(second)]).toEqual(['confirmed', 'confirmed'])
    })

    test('delivering a channel does not deadlock with an account that orders it', async () => {
      const channel = await shop.offer(shop.bob)
      const order = await shop.buyChannel(shop.alice, channel)
      const runs = { delivered: 0, ordered: 0 }
      const { orders } = shop.on({
        ...shop.storage,
        transaction: (work) =>
          shop.storage.transaction((sql) => {
            runs.ordered += 1
            return work(sql)
          }),
      })
      const isLocked = Promise.withResolvers<void>()
      // Takes the locks in the same sequence as the judgement: first the order, then the goods.
      const delivering = shop.storage.transaction(async (sql) => {
        runs.delivered += 1
        const locked = await lockOrder(sql, order.order_id)
        isLocked.resolve()
        await Bun.sleep(200)
        if (locked) await channelGoods.deliver(sql, locked)
      })
      await isLocked.promise
      const ordering = orderChannel({ channel, buyer: shop.carol.id }, { orders, clock: shop.clock })
      expect(await failureOf(ordering)).toBeInstanceOf(ProtocolError)
      await delivering
      expect(runs).toEqual({ delivered: 1, ordered: 1 })
    })

    test('every event of an order is recorded, with time, actor and reason', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order)
      await shop.pay(order)
      const events = await shop.storage.sql<{ who: string; what: string }>`
        SELECT who, what FROM order_events ORDER BY id`
      expect(events.map(({ who, what }) => `${who}: ${what}`)).toEqual([
        'relay: placed',
        'relay: confirmed',
        'relay: refund due',
      ])
    })
  })
}
