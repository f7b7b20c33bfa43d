// Orders that can be paid in several ways, on every engine: whatever the buyer chooses, and in whichever
// accepted token the money comes, all of it counts, exactly.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ProtocolError } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { orderCommands } from './operator-orders.ts'
import type { Order } from './order.ts'
import { findPaymentView } from './payment-views.ts'
import type { PaymentMethod, PaymentProvider } from './provider.ts'

const FINE_UNIT = 10n ** 18n
const DEFAULT = 'chain:1/token'
const FINE = 'chain:2/fine'
const WHOLE = 'chain:2/whole'
const PAGE = 'desk'

/** A second chain of the same provider, with the same addresses and other tokens. */
function secondChain() {
  const state = { isBroken: false, seenUntil: Number.POSITIVE_INFINITY }
  const provider: PaymentProvider = {
    name: 'chain',
    methods: [
      { asset: FINE, symbol: 'DAI', decimals: 18, network: 'Second' },
      { asset: WHOLE, symbol: 'WHO', decimals: 0, network: 'Second' },
    ],
    isAvailable: () => !state.isBroken,
    open: async ({ depositIndex, price }, { asset, decimals }: PaymentMethod) => ({
      ...{ payTo: `address ${depositIndex}`, asset, amount: BigInt(price) * 10n ** BigInt(decimals) },
    }),
    start: async () => undefined,
    stop: async () => undefined,
    seenUntil: () => state.seenUntil,
  }
  return Object.assign(state, { provider })
}

/** A processor with a page for every order. `answer` ends the wait of its openings. */
function desk() {
  const state = { opened: 0, isDown: false, answer: async (): Promise<void> => undefined }
  const provider: PaymentProvider = {
    name: 'webhook',
    methods: [{ asset: PAGE, symbol: 'USDT', decimals: 6, network: 'Desk' }],
    isAvailable: () => true,
    open: async ({ orderId, price }) => {
      state.opened += 1
      await state.answer()
      if (state.isDown) throw new ProtocolError('PAYMENTS_UNAVAILABLE')
      const page = `https://desk.example/${orderId}`
      return { payTo: page, asset: PAGE, amount: BigInt(price) * UNIT, hostedPage: page }
    },
    start: async () => undefined,
    stop: async () => undefined,
    seenUntil: (now) => now,
  }
  return Object.assign(state, { provider })
}

for (const engine of engines) {
  describe(`several ways to pay on ${engine.name}`, () => {
    let shop: ShopWorld
    let second: ReturnType<typeof secondChain>
    let processor: ReturnType<typeof desk>
    let order: Order
    beforeEach(async () => {
      second = secondChain()
      processor = desk()
      shop = await openShopWorld(engine, {}, undefined, [second.provider, processor.provider])
      order = await shop.buyAlias(shop.alice)
    })
    afterEach(() => shop.store.remove())

    const choose = async (asset: string, of = order): Promise<Order> => {
      const chosen = await shop.orders.choose(of.order_id, asset)
      if (!chosen) throw new Error('there is no such order or method')
      return chosen
    }
    const payFine = (amount: bigint, change = {}) =>
      shop.pay(order, { scope: 'chain:2', asset: FINE, amount, ...change })

    test('a new order names the first way; choosing another names its place, and back again', async () => {
      expect(order).toMatchObject({ asset: DEFAULT, provider: 'chain', hosted_page: null })
      expect(await choose(FINE)).toMatchObject({ asset: FINE, amount: `${order.price}${'0'.repeat(18)}` })
      const page = `https://desk.example/${order.order_id}`
      expect(await choose(PAGE)).toMatchObject({ asset: PAGE, pay_to: page, hosted_page: page })
      expect(await choose(DEFAULT)).toEqual(order)
      expect(await shop.buyAlias(shop.alice)).toEqual(order)
    })

    test('a way that is not available is neither the first, nor offered, nor chosen', async () => {
      second.isBroken = true
      expect(await failureOf(choose(FINE))).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
      expect(shop.methods.available().map(({ method }) => method.asset)).toEqual([DEFAULT, PAGE])
      shop.chain.isBroken = true
      expect(await shop.buyAlias(shop.bob, 'mountain')).toMatchObject({ asset: PAGE })
      const view = await findPaymentView(order.page_token, shop)
      expect(view?.choices.map(({ method }) => method)).toEqual([DEFAULT, PAGE])
    })

    test('an order or a way that does not exist cannot be chosen', async () => {
      expect(await shop.orders.choose(order.order_id, 'chain:3/token')).toBeUndefined()
      expect(await shop.orders.choose('ord_0000000000000000000000' as never, FINE)).toBeUndefined()
    })

    test('the whole price in any one of the tokens confirms the order, also one that nobody chose', async () => {
      await payFine(BigInt(order.price) * FINE_UNIT)
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted'])
    })

    test('money by the first choice counts after another one was chosen', async () => {
      await choose(PAGE)
      await shop.pay(order)
      expect(await shop.status(order)).toBe('confirmed')
    })

    test('half in one token and half in another confirm the order, and not a unit less does', async () => {
      const half = (BigInt(order.price) * FINE_UNIT) / 2n
      await payFine(half - 1n)
      await shop.pay(order, { amount: (BigInt(order.price) * UNIT) / 2n })
      expect(await shop.status(order)).toBe('pending')
      const view = await findPaymentView(order.page_token, shop)
      // The rest is asked for in the token that was chosen, whose smallest unit is larger.
      expect(view).toMatchObject({ state: 'short', missing: '0.000001' })
      await payFine(1n)
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted', 'counted'])
    })

    test('an excess is given back in the token that it came in, rounded down to its unit', async () => {
      await payFine(1n)
      await shop.pay(order, { amount: BigInt(order.price) * UNIT + 5n })
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted over 5'])
      const other = await shop.buyAlias(shop.bob, 'mountain')
      await shop.pay(other, { amount: BigInt(other.price) * UNIT - 1n })
      await shop.pay(other, { scope: 'chain:2', asset: WHOLE, amount: 1n })
      // The excess is less than the smallest unit of this token.
      expect(await shop.outcomes(other)).toEqual(['counted', 'counted'])
    })

    test('money in a token that is no method is recorded for a refund, on whichever chain', async () => {
      await shop.pay(order, { scope: 'chain:2', asset: 'chain:2/other', problem: 'wrong_token' })
      await shop.pay(order, { scope: 'chain:3', asset: 'chain:3/other', problem: 'wrong_chain' })
      expect(await shop.outcomes(order)).toEqual(['refund wrong_token all', 'refund wrong_chain all'])
    })

    test('choosing ends when enough was seen, when the time is over, and when the order is paid', async () => {
      await payFine(BigInt(order.price) * FINE_UNIT, { isFinal: false, height: 3 })
      expect(await failureOf(choose(FINE))).toMatchObject({ code: 'ORDER_CLOSED' })
      expect(await failureOf(choose(DEFAULT))).toMatchObject({ code: 'ORDER_CLOSED' })
      const paid = await shop.buyAlias(shop.bob, 'mountain')
      await shop.pay(paid)
      expect(await failureOf(choose(FINE, paid))).toMatchObject({ code: 'ORDER_CLOSED' })
      const over = await shop.buyAlias(shop.carol, 'valley')
      shop.clock.advance(15 * MINUTE_MS + 1)
      expect(await failureOf(choose(FINE, over))).toMatchObject({ code: 'ORDER_CLOSED' })
    })

    test('a place is opened once, however often and however many at once choose it', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      processor.answer = () => promise
      const choices = [choose(PAGE), choose(PAGE), choose(PAGE)]
      while (processor.opened === 0) await Bun.sleep(1)
      resolve()
      for (const chosen of await Promise.all(choices)) expect(chosen).toMatchObject({ asset: PAGE })
      await choose(DEFAULT)
      await choose(PAGE)
      expect(processor.opened).toBe(1)
    })

    test('a processor that cannot open a place changes nothing, and can be chosen later', async () => {
      processor.isDown = true
      expect(await failureOf(choose(PAGE))).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
      expect(await shop.buyAlias(shop.alice)).toEqual(order)
      processor.isDown = false
      expect(await choose(PAGE)).toMatchObject({ asset: PAGE })
    })

    test('an order that ends while its place is opened is not changed any more', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      processor.answer = () => promise
      const choice = choose(PAGE)
      while (processor.opened === 0) await Bun.sleep(1)
      await shop.pay(order)
      resolve()
      expect(await failureOf(choice)).toMatchObject({ code: 'ORDER_CLOSED' })
      expect(await shop.storage.sql<{ asset: string }>`SELECT asset FROM order_destinations`).toEqual([
        { asset: DEFAULT },
      ])
    })

    test('an order expires when the chains of all its opened places were read past its end', async () => {
      const other = await shop.buyAlias(shop.bob, 'mountain')
      await choose(FINE)
      await choose(DEFAULT)
      second.seenUntil = order.expires_at
      shop.clock.advance(60 * MINUTE_MS)
      await shop.sweep()
      expect([await shop.status(order), await shop.status(other)]).toEqual(['pending', 'expired'])
      expect(await failureOf(shop.buyAlias(shop.carol))).toMatchObject({ code: 'ALIAS_TAKEN' })
      second.seenUntil = order.expires_at + 1
      await shop.sweep()
      expect(await shop.status(order)).toBe('expired')
    })

    test('the address is watched once for a provider, and until the end of the watch', async () => {
      await choose(FINE)
      await choose(PAGE)
      expect(await shop.ledger.watched('chain')).toEqual([order.pay_to])
      const pending = await shop.ledger.pending('chain')
      expect(pending.map(({ asset }): string => asset).toSorted()).toEqual([DEFAULT, FINE])
      shop.clock.advance(16 * MINUTE_MS)
      await shop.sweep()
      expect(await shop.ledger.watched('chain')).toEqual([order.pay_to])
      expect(await shop.ledger.pending('chain')).toEqual([])
      shop.clock.advance(31 * 24 * 60 * MINUTE_MS)
      expect(await shop.ledger.watched('chain')).toEqual([])
    })

    test('the operator sees every place where the order can be paid', async () => {
      await choose(PAGE)
      const detail = await orderCommands(shop)['orders.show']({ order_id: order.order_id })
      const { amount } = order
      expect(detail).toMatchObject({
        asset: PAGE,
        destinations: [
          { asset: DEFAULT, provider: 'chain', pay_to: order.pay_to, amount },
          { asset: PAGE, provider: 'webhook', pay_to: `https://desk.example/${order.order_id}`, amount },
        ],
      })
    })

    test('the operator confirms what is missing, in the token that was chosen', async () => {
      await payFine(1n)
      const by = { who: 'ada', why: 'the bank says so' }
      await orderCommands(shop)['orders.confirm']({ order_id: order.order_id, reference: 'wire 1', ...by })
      expect(await shop.status(order)).toBe('confirmed')
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted'])
    })

    describe('after a way was removed from the settings', () => {
      test('its token still counts for an order that was opened with it, while its chain is read', async () => {
        await choose(FINE)
        const [, whole] = second.provider.methods
        if (!whole) throw new Error('the chain has one token')
        const { ledger } = shop.restarted([{ ...second.provider, methods: [whole] }])
        await ledger.transaction((entries) =>
          entries.record({
            ...{ reference: 'chain:2/x', scope: 'chain:2', for: { payTo: order.pay_to }, asset: FINE },
            ...{ amount: BigInt(order.price) * FINE_UNIT, at: shop.clock.now(), isFinal: true },
            problem: 'wrong_token',
          }),
        )
        expect(await shop.outcomes(order)).toEqual(['counted'])
      })

      test('an unpaid order expires, and its page says what it can', async () => {
        await choose(FINE)
        const { sweep, methods } = shop.restarted([])
        expect(await findPaymentView(order.page_token, { ...shop, methods })).toMatchObject({
          ...{ state: 'waiting', symbol: '', network: '', amount: String(order.price) },
          choices: [{ method: DEFAULT }],
        })
        shop.clock.advance(16 * MINUTE_MS)
        await sweep()
        expect(await shop.status(order)).toBe('expired')
      })

      test('an order that was seen as paid waits for its return, and is confirmed then', async () => {
        await choose(FINE)
        await payFine(BigInt(order.price) * FINE_UNIT, { isFinal: false, height: 3 })
        const { sweep } = shop.restarted([])
        shop.clock.advance(24 * 60 * MINUTE_MS)
        await sweep()
        expect(await shop.status(order)).toBe('pending')
        await shop.ledger.transaction((entries) => entries.finalizeUpTo('chain:2', 3))
        expect(await shop.status(order)).toBe('confirmed')
      })
    })
  })
}
