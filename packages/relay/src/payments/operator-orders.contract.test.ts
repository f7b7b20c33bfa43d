// The operator's commands about orders, on every engine: each change happens once and is recorded.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import * as v from 'valibot'
import { engines } from '../../test/engines.ts'
import { MINUTE_MS, openShopWorld, type ShopWorld, UNIT } from '../../test/shop-world.ts'
import { OperatorRefusal } from '../listener/operator-command.ts'
import { type OrderAnswer, type OrderCommandName, orderAnswers } from './operator-answers.ts'
import { orderCommands } from './operator-orders.ts'

const BY = { who: 'ada (sudo)', why: 'the bank says so' }

for (const engine of engines) {
  describe(`an operator’s orders on ${engine.name}`, () => {
    let shop: ShopWorld
    beforeEach(async () => {
      shop = await openShopWorld(engine)
    })
    afterEach(() => shop.store.remove())

    /** Runs a command, and checks its answer against the schema. */
    async function run<Name extends OrderCommandName>(
      name: Name,
      input: object = {},
    ): Promise<OrderAnswer<Name>> {
      return v.parse(orderAnswers[name], await orderCommands(shop)[name](input))
    }

    async function refusal(name: OrderCommandName, input: object): Promise<string> {
      const error = await run(name, input).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      return error instanceof OperatorRefusal ? error.message : `no refusal: ${error}`
    }

    test('lists all orders, the newest first, or those of one status, of one kind, or with refunds due', async () => {
      const river = await shop.buyAlias(shop.alice)
      const seat = await shop.buySeat(shop.bob)
      const ocean = await shop.reserve('192.0.2.1', 'ocean')
      await shop.pay(seat)
      await shop.pay(river, { amount: UNIT })
      const ids = async (filter: object) => (await run('orders.list', filter)).map(({ order_id }) => order_id)
      expect(await ids({})).toEqual([ocean.order_id, seat.order_id, river.order_id])
      expect(await ids({ limit: 1 })).toEqual([ocean.order_id])
      expect(await ids({ status: 'confirmed' })).toEqual([seat.order_id])
      expect(await ids({ kind: 'reserve' })).toEqual([ocean.order_id])
      expect(await ids({ status: 'pending', kind: 'vanity' })).toEqual([river.order_id])
      expect(await ids({ refunds: true })).toEqual([])
      shop.clock.advance(30 * MINUTE_MS)
      await shop.sweep()
      expect(await run('orders.list', { refunds: true })).toMatchObject([
        { order_id: river.order_id, status: 'expired', buyer: shop.alice.alias, refunds_due: 1 },
      ])
      expect(await refusal('orders.list', { status: 'paid' })).toStartWith('status: ')
      expect(await refusal('orders.list', { limit: 0 })).toStartWith('limit: ')
    })

    test('confirms once, records it, and keeps a notice for the payer', async () => {
      const order = await shop.buyAlias(shop.alice)
      const { order_id } = order
      const line = await run('orders.confirm', { order_id, reference: 'wire 7', ...BY })
      expect(line).toMatchObject({ status: 'confirmed', buyer: shop.alice.alias, refunds_due: 0 })
      expect(line.confirmed_at).not.toBeNull()
      expect(await shop.notices(shop.alice)).toEqual([
        { type: 'payment_confirmed', order_id, ref_id: 'river' },
      ])
      expect(await refusal('orders.confirm', { order_id, ...BY })).toBe(`${order_id} is confirmed already`)
      const { payments, events, is_bound, payout } = await run('orders.show', { order_id })
      expect({ is_bound, payout }).toEqual({ is_bound: false, payout: null })
      expect(payments).toMatchObject([
        { reference: 'manual/wire 7', amount: order.amount, state: 'final', outcome: 'counted' },
      ])
      expect(events).toMatchObject([
        { who: 'relay', what: 'placed' },
        { who: 'ada (sudo)', what: 'told that it was paid', why: 'the bank says so' },
        { who: 'ada (sudo)', what: 'confirmed' },
      ])
    })

    test('confirming an order that was paid in part records only the rest', async () => {
      const order = await shop.buyAlias(shop.alice)
      await shop.pay(order, { amount: UNIT })
      await run('orders.confirm', { order_id: order.order_id, ...BY })
      expect(await shop.outcomes(order)).toEqual(['counted', 'counted'])
      const { payments } = await run('orders.show', { order_id: order.order_id })
      expect(payments.map(({ amount }) => BigInt(amount))).toEqual([UNIT, BigInt(order.amount) - UNIT])
    })

    test('two operators who confirm at once confirm once', async () => {
      const { order_id } = await shop.buySeat(shop.alice)
      const commands = [1, 2].map(() => run('orders.confirm', { order_id, ...BY }))
      const outcomes = await Promise.allSettled(commands)
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(await shop.notices(shop.alice)).toHaveLength(1)
      expect((await run('orders.show', { order_id })).payments).toHaveLength(1)
    })

    test('one reference confirms one order', async () => {
      const [first, second] = [await shop.buySeat(shop.alice), await shop.buySeat(shop.bob)]
      await run('orders.confirm', { order_id: first.order_id, reference: 'wire 7', ...BY })
      expect(await refusal('orders.confirm', { order_id: second.order_id, reference: 'wire 7', ...BY })).toBe(
        'a payment manual/wire 7 is recorded already',
      )
      expect(await shop.status(second)).toBe('pending')
    })

    test('if two orders are confirmed at once with one reference, one is confirmed and the other is unchanged', async () => {
      const seats = [await shop.buySeat(shop.alice), await shop.buySeat(shop.bob)]
      const outcomes = await Promise.allSettled(
        seats.map(({ order_id }) => run('orders.confirm', { order_id, reference: 'wire 7', ...BY })),
      )
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const [left] = await run('orders.list', { status: 'pending' })
      const { events } = await run('orders.show', { order_id: left?.order_id })
      expect(events.map(({ what }) => what)).toEqual(['placed'])
    })

    test('an expired order is confirmed if its goods are free; otherwise its money is recorded for refund', async () => {
      const [free, gone] = [
        await shop.buyAlias(shop.alice, 'river'),
        await shop.buyAlias(shop.alice, 'ocean'),
      ]
      shop.clock.advance(30 * MINUTE_MS)
      await shop.sweep()
      const taken = await shop.buyAlias(shop.bob, 'ocean')
      expect(await run('orders.confirm', { order_id: free.order_id, ...BY })).toMatchObject({
        status: 'confirmed',
      })
      expect(await run('orders.confirm', { order_id: gone.order_id, ...BY })).toMatchObject({
        ...{ status: 'expired', refunds_due: 1, buyer: shop.alice.alias, confirmed_at: null },
      })
      expect(await shop.outcomes(gone)).toEqual(['refund late all'])
      expect(await shop.status(taken)).toBe('pending')
    })

    test('a refund is recorded once, with its reference', async () => {
      const seat = await shop.buySeat(shop.alice)
      await shop.pay(seat)
      const payment = await shop.pay(seat)
      const input = { payment, reference: '0xfeed', ...BY }
      expect(await run('orders.refund-recorded', input)).toMatchObject({
        ...{ reference: payment, refund_amount: seat.amount, reason: 'twice', refund_reference: '0xfeed' },
        refunded_at: new Date(shop.clock.now()).toISOString(),
      })
      expect(await refusal('orders.refund-recorded', input)).toBe(
        `no payment ${payment} waits to be given back`,
      )
      const { order, events } = await run('orders.show', { order_id: seat.order_id })
      expect(order.refunds_due).toBe(0)
      expect(events.at(-1)).toMatchObject({ ...BY, what: `refunded ${seat.amount} by 0xfeed` })
    })

    test('a payment that counted cannot be refunded', async () => {
      const payment = await shop.pay(await shop.buySeat(shop.alice))
      expect(await refusal('orders.refund-recorded', { payment, reference: 'x', ...BY })).toContain(
        'waits to be given back',
      )
    })

    test('a seller is owed the price until the payout is recorded, which happens once', async () => {
      const channel = await shop.offer(shop.bob, 40)
      const order = await shop.buyChannel(shop.alice, channel)
      expect(await run('payouts.due')).toEqual([])
      await shop.pay(order)
      const due = { order_id: order.order_id, channel_id: channel, seller: shop.bob.alias, price_usdt: 40 }
      expect(await run('payouts.due')).toMatchObject([{ ...due, paid_at: null, paid_reference: null }])
      const input = { order_id: order.order_id, reference: '0xcafe', ...BY }
      const paid = { ...due, paid_at: new Date(shop.clock.now()).toISOString(), paid_reference: '0xcafe' }
      expect(await run('payouts.paid', input)).toMatchObject(paid)
      expect(await run('payouts.due')).toEqual([])
      expect(await refusal('payouts.paid', input)).toBe(`no payout of ${order.order_id} is due`)
      const { payout, events } = await run('orders.show', { order_id: order.order_id })
      expect(payout).toMatchObject(paid)
      expect(events.at(-1)).toMatchObject({ ...BY, what: 'paid its seller by 0xcafe' })
    })

    test('a seller who deleted the account is still owed', async () => {
      const order = await shop.buyChannel(shop.alice, await shop.offer(shop.bob))
      await shop.pay(order)
      await shop.remove(shop.bob)
      expect(await run('payouts.due')).toMatchObject([{ seller: shop.bob.alias }])
    })

    test('an unknown order is reported as such, and an order without a place to pay cannot be confirmed', async () => {
      const none = `ord_${'x'.repeat(24)}`
      for (const name of ['orders.show', 'orders.confirm'] as const)
        expect(await refusal(name, { order_id: none, ...BY })).toBe(`there is no order ${none}`)
      const { order_id } = await shop.buySeat(shop.alice)
      await shop.storage.transaction((sql) => sql`UPDATE orders SET pay_to = '', asset = '', amount = ''`)
      expect(await refusal('orders.confirm', { order_id, ...BY })).toContain('no buyer knows yet')
    })

    test('a refunded excess stays refunded; the rest becomes due if the payer leaves without binding the id', async () => {
      const order = await shop.buyAlias(shop.alice)
      const payment = await shop.pay(order, { amount: BigInt(order.amount) + 7n })
      await run('orders.refund-recorded', { payment, reference: '0xcafe', ...BY })
      await shop.remove(shop.alice)
      const { payments, events } = await run('orders.show', { order_id: order.order_id })
      const due = { refund_amount: order.amount, reason: 'account_deleted', refunded_at: null }
      expect(payments).toMatchObject([{ ...due, refund_reference: null }])
      expect(events).toContainEqual(expect.objectContaining({ what: 'refunded 7 by 0xcafe' }))
      expect(await run('orders.list', { refunds: true })).toMatchObject([{ refunds_due: 1 }])
    })

    test('a text that no database or terminal takes is refused', async () => {
      const { order_id } = await shop.buySeat(shop.alice)
      for (const odd of ['\u0000', 'a\u0000b', 'a\ud800', 'a\u001b[2J']) {
        expect(await refusal('orders.confirm', { order_id, ...BY, reference: odd })).toStartWith(
          'reference: ',
        )
        expect(await refusal('orders.confirm', { order_id, ...BY, why: odd })).toStartWith('why: ')
        expect(await refusal('payouts.paid', { order_id, ...BY, reference: odd })).toStartWith('reference: ')
        const refund = { payment: odd, reference: 'x', ...BY }
        expect(await refusal('orders.refund-recorded', refund)).toStartWith('payment: ')
      }
      const why = 'the bank says so,\nand she does'
      expect(await run('orders.confirm', { order_id, ...BY, why })).toMatchObject({ status: 'confirmed' })
    })

    test('no change is made without an actor and a reason', async () => {
      const { order_id } = await shop.buySeat(shop.alice)
      for (const by of [{ who: 'ada' }, { why: 'so' }, { who: 'ada', why: '  ' }, { who: '', why: 'so' }])
        expect(await refusal('orders.confirm', { order_id, ...by })).toMatch(/^wh[oy]: /)
      expect(await refusal('orders.confirm', { order_id, who: 'ada', why: 'x'.repeat(501) })).toStartWith(
        'why: ',
      )
      expect((await run('orders.show', { order_id })).events).toHaveLength(1)
    })
  })
}
