// When orders end, on every engine: at the end of their time, once the payments are known, without a sweep of
// all orders.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { eventually } from '../../test/payment-watch.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld } from '../../test/shop-world.ts'
import type { Order } from './order.ts'

const ORDER_MS = 15 * MINUTE_MS
const MANY = 2000

for (const engine of engines) {
  describe(`the ends of orders on ${engine.name}`, () => {
    let shop: ShopWorld
    const reads = { rows: 0 }
    const counting = () => ({
      ...shop.storage,
      sql: async <Row extends object>(...query: Parameters<typeof shop.storage.sql>) => {
        const rows = await shop.storage.sql<Row>(...query)
        reads.rows += rows.length
        return rows
      },
    })
    beforeEach(async () => {
      shop = await openShopWorld(engine)
      reads.rows = 0
    })
    afterEach(() => shop.store.remove())

    const copy = (order: Order, times: number) =>
      shop.storage.transaction(async (sql) => {
        for (let n = 0; n < times; n++) {
          await sql`
            INSERT INTO orders (order_id, kind, ref_id, title, buyer_id, price, provider, deposit_index, pay_to, asset,
              amount, page_token, status, created_at, expires_at)
            SELECT order_id || ${`_${n}`}, kind, ref_id, title, buyer_id, price, provider, deposit_index,
              pay_to || ${`_${n}`}, asset, amount, page_token || ${`_${n}`}, status, created_at, expires_at
            FROM orders WHERE id = ${order.id}`
        }
      })

    /** Lets time pass without a jump of the clock. */
    const pass = (ms: number): void => shop.clock.advance(ms)

    test('a running watcher ends an order that was placed after it started', async () => {
      const ends = shop.endsOn(shop.storage)
      ends.start()
      const order = await shop.buyAlias(shop.alice)
      pass(ORDER_MS + 1)
      await eventually(async () => expect(await shop.status(order)).toBe('expired'))
      await ends.stop()
    })

    test('an order ends at the first check after its end and not before', async () => {
      const ends = shop.endsOn(shop.storage)
      await ends.check()
      const order = await shop.buyAlias(shop.alice)
      pass(ORDER_MS)
      await ends.check()
      expect(await shop.status(order)).toBe('pending')
      pass(1)
      await ends.check()
      expect(await shop.status(order)).toBe('expired')
      await shop.buyAlias(shop.bob)
    })

    test('a watcher that starts later ends what ended meanwhile', async () => {
      const order = await shop.buyAlias(shop.alice)
      pass(ORDER_MS + 1)
      await shop.endsOn(shop.storage).check()
      expect(await shop.status(order)).toBe('expired')
    })

    test('an order waits for the chain, and ends with the next check after the chain was read past its end', async () => {
      const ends = shop.endsOn(shop.storage)
      const order = await shop.buyAlias(shop.alice)
      shop.chain.seenUntil = shop.clock.now()
      pass(ORDER_MS + 1)
      await ends.check()
      expect(await shop.status(order)).toBe('pending')
      pass(60 * MINUTE_MS)
      await ends.check()
      expect(await shop.status(order)).toBe('pending')
      shop.chain.seenUntil = order.expires_at + 1
      await ends.check()
      expect(await shop.status(order)).toBe('expired')
    })

    test('an order whose payment a reorganisation removed ends with the next check', async () => {
      const ends = shop.endsOn(shop.storage)
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { isFinal: false, height: 7 })
      pass(ORDER_MS + 1)
      shop.chain.seenUntil = order.expires_at + 1
      await ends.check()
      expect(await shop.status(order)).toBe('pending')
      await shop.ledger.transaction((entries) => entries.retractAbove('chain:1', 6))
      shop.chain.seenUntil += 1
      pass(5000)
      await ends.check()
      expect(await shop.status(order)).toBe('expired')
    })

    test('nothing ends while the clock is not trusted', async () => {
      const ends = shop.endsOn(shop.storage)
      const order = await shop.buyAlias(shop.alice)
      shop.clock.jump(24 * 60 * MINUTE_MS)
      await ends.check()
      expect(await shop.status(order)).toBe('pending')
    })

    test('thousands of orders end together; while they wait for the chain, checking costs nothing', async () => {
      const order = await shop.buySeat(shop.alice)
      await copy(order, MANY)
      shop.chain.seenUntil = shop.clock.now()
      pass(ORDER_MS + 1)
      const ends = shop.endsOn(counting())
      await ends.check()
      reads.rows = 0
      for (let checks = 0; checks < 100; checks++) {
        pass(1000)
        await ends.check()
      }
      expect(reads.rows).toBeLessThan(100)
      shop.chain.seenUntil = shop.clock.now()
      await ends.check()
      const pending = await shop.storage.sql`SELECT id FROM orders WHERE status = 'pending'`
      expect(pending).toEqual([])
    }, 120_000)
  })
}
