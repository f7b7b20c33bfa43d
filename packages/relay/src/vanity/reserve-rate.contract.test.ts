// The rate of ids ordered without an account, on every engine: exact over any day, and without addresses in
// the store.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld } from '../../test/shop-world.ts'

const HOUR_MS = 60 * MINUTE_MS
const NAMES = ['river', 'mountain', 'valley', 'meadow', 'forest', 'island', 'desert', 'harbour']

for (const engine of engines) {
  describe(`reserves on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    const counted = () => shop.storage.sql<{ network: string }>`SELECT * FROM reserves`

    test('an address reserves three ids in any day, not three at once and three more as the day passes', async () => {
      for (const name of NAMES.slice(0, 3)) {
        await shop.reserve('203.0.113.7', name)
        shop.clock.advance(HOUR_MS)
      }
      for (let hour = 3; hour < 24; hour++) {
        expect(await failureOf(shop.reserve('203.0.113.7', 'forest'))).toMatchObject({
          code: 'RATE_LIMITED',
          details: { limit: 'reserve', retryAfterMs: (24 - hour) * HOUR_MS },
        })
        shop.clock.advance(HOUR_MS)
      }
      await shop.reserve('203.0.113.7', 'forest')
      expect(await failureOf(shop.reserve('203.0.113.7', 'island'))).toMatchObject({
        details: { limit: 'reserve', retryAfterMs: HOUR_MS },
      })
      await shop.reserve('203.0.113.8', 'island')
    })

    test('three ids are reserved even if many are asked for at the same time', async () => {
      const results = await Promise.allSettled(NAMES.map((name) => shop.reserve('203.0.113.7', name)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'RATE_LIMITED' })
    })

    test('a reserve that fails counts for nothing', async () => {
      await shop.buyAlias(shop.alice)
      for (let n = 0; n < 3; n++)
        expect(await failureOf(shop.reserve('203.0.113.7'))).toMatchObject({ code: 'ALIAS_TAKEN' })
      shop.chain.isBroken = true
      for (let n = 0; n < 3; n++) await failureOf(shop.reserve('203.0.113.7', 'mountain'))
      shop.chain.isBroken = false
      expect(await counted()).toEqual([])
      for (const name of NAMES.slice(1, 4)) await shop.reserve('203.0.113.7', name)
      expect(await failureOf(shop.reserve('203.0.113.7', 'forest'))).toMatchObject({ code: 'RATE_LIMITED' })
    })

    test('the /48 of an IPv6 address reserves sixteen times as many', async () => {
      const ids = Array.from({ length: 48 }, (_, n) => `river_${n}`)
      for (const [n, id] of ids.entries())
        await shop.reserve(`2001:db8:1:${Math.floor(n / 3).toString(16)}::/64`, id)
      expect(await failureOf(shop.reserve('2001:db8:1:ff::/64', 'river_48'))).toMatchObject({
        code: 'RATE_LIMITED',
      })
      await shop.reserve('2001:db8:2:ff::/64', 'river_48')
    })

    test('no address is kept for it, and after a day not even its hash', async () => {
      await shop.reserve('203.0.113.7')
      await shop.reserve('2001:db8:1:2::/64', 'mountain')
      const rows = await counted()
      expect(rows.map(({ network }) => network)).toEqual(
        Array.from({ length: 4 }, () => expect.stringMatching(/^[\w-]{43}$/)),
      )
      shop.clock.advance(24 * HOUR_MS - 1)
      await shop.reserveRate.eraseOld()
      expect(await counted()).toHaveLength(4)
      shop.clock.advance(1)
      await shop.reserveRate.eraseOld()
      expect(await counted()).toEqual([])
    })
  })
}
