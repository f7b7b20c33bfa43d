// The operator's accounts, on every engine: everything that moved money is in them exactly once.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import * as v from 'valibot'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { type AccountEntry, accountingAnswers, accountingCommands } from './accounting.ts'
import { orderCommands } from './operator-orders.ts'

const BY = { who: 'ada', why: 'the bank says so' }

for (const engine of engines) {
  describe(`accounts on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    async function accounts(from = 0, until = Number.MAX_SAFE_INTEGER): Promise<AccountEntry[]> {
      const entries: AccountEntry[] = []
      for (let after: object | null = {}; after; ) {
        const input: object = { from, until, ...('at' in after ? { after } : {}) }
        const page = v.parse(
          accountingAnswers['orders.accounts'],
          await accountingCommands(shop)['orders.accounts'](input),
        )
        entries.push(...page.entries)
        after = page.next
      }
      return entries
    }

    test('show a sale, its payments, the refund of an excess, and the payout, by time', async () => {
      const channel = await shop.offer(shop.bob, 40)
      const order = await shop.buyChannel(shop.alice, channel)
      const paid = await shop.pay(order, { amount: 41n * UNIT })
      await shop.pay(order, { isFinal: false })
      const commands = orderCommands(shop)
      shop.clock.advance(MINUTE_MS)
      await commands['orders.refund-recorded']({ payment: paid, reference: 'tx 1', ...BY })
      shop.clock.advance(MINUTE_MS)
      await commands['payouts.paid']({ order_id: order.order_id, reference: 'tx 2', ...BY })

      const all = await accounts()
      const shared = {
        order_id: order.order_id,
        kind: 'channel',
        ref_id: channel,
        provider: 'chain',
      } as const
      expect(all).toMatchObject([
        { ...shared, entry: 'sale', amount: '40', asset: '', account: shop.alice.alias },
        {
          ...{ ...shared, entry: 'payment', amount: '41', smallest_units: '41000000', reference: paid },
          ...{ outcome: 'counted', refund_units: '1000000', reason: 'over', asset: 'chain:1/token' },
        },
        { ...shared, entry: 'payout_due', amount: '40', account: shop.bob.alias },
        { ...shared, entry: 'refund', amount: '1', smallest_units: '1000000', reference: 'tx 1' },
        { ...shared, entry: 'payout', amount: '40', account: shop.bob.alias, reference: 'tx 2' },
      ])
      const [, , , refund] = all
      const at = Date.parse(refund?.at ?? '')
      expect(await accounts(at)).toEqual(all.slice(3))
      expect(await accounts(at, at + MINUTE_MS)).toEqual(all.slice(3, 4))
      expect(await accounts(at + 1, at + MINUTE_MS)).toEqual([])
    })

    test('keep a payment that a reorganisation removed after it counted, and say what became of it', async () => {
      const order = await shop.buyChannel(shop.alice, await shop.offer(shop.bob, 40))
      const [counted, over] = [await shop.pay(order, { height: 7 }), await shop.pay(order, { height: 8 })]
      const commands = orderCommands(shop)
      await commands['orders.refund-recorded']({ payment: over, reference: 'tx 1', ...BY })
      const outcomes = async () => {
        const entries = (await accounts()).filter(({ entry }) => entry === 'payment')
        return Object.fromEntries(
          entries.map(({ reference, outcome, amount }) => [reference, [outcome, amount]]),
        )
      }
      expect(await outcomes()).toEqual({ [counted]: ['counted', '40'], [over]: ['refund', '40'] })
      await shop.ledger.transaction((entries) => entries.retractAbove('chain:1', 6))
      expect(await outcomes()).toEqual({ [counted]: ['missing', '40'], [over]: ['missing', '40'] })
      await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:1', 8))
      expect(await outcomes()).toEqual({ [counted]: ['lost', '40'], [over]: ['lost', '40'] })
      await commands['orders.settle-lost']({ order_id: order.order_id, ...BY })
      expect(await outcomes()).toEqual({ [counted]: ['settled', '40'], [over]: ['settled', '40'] })
    })

    test('give the amount of another token only in its smallest unit, because its decimals are not known', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { asset: 'chain:1/other', amount: 7n })
      expect(await accounts()).toMatchObject([
        {
          entry: 'payment',
          asset: 'chain:1/other',
          amount: null,
          smallest_units: '7',
          reason: 'wrong_token',
        },
      ])
    })

    test('contain every payment once, over several pages with equal times', async () => {
      const order = await shop.buyAlias(shop.alice)
      const many = 1001
      await shop.ledger.transaction(async (entries) => {
        for (let n = 0; n < many; n++) {
          await entries.record({
            ...{ reference: `chain:1/many/${n}`, scope: 'chain:1', for: { payTo: order.pay_to } },
            ...{ asset: order.asset, amount: 1n, at: shop.clock.now(), isFinal: true },
          })
        }
      })
      const all = await accounts()
      expect(new Set(all.map(({ reference }) => reference)).size).toBe(many)
      expect(all).toHaveLength(many)
    })
  })
}
