// The operator's commands about orders. Every change is recorded with its actor, time and reason.
import { OrderId, OrderKind, OrderState } from '@sotto/protocol'
import * as v from 'valibot'
import { lockAccounts } from '../accounts/accounts.ts'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../listener/operator-command.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { sumOf, unitsThatPay, valueOfPrice } from './amounts.ts'
import { findDestination, listDestinations } from './destinations.ts'
import type { PaymentLedger } from './ledger.ts'
import { isPayoutHeld } from './lost-payments.ts'
import type { OrderCommandName, OrderDetail, OrderLine, PaymentLine, PayoutLine } from './operator-answers.ts'
import {
  addEvent,
  findOrder,
  lockOrder,
  lockOrderNumber,
  type Order,
  type OrderEvent,
  type OrderNumber,
} from './order.ts'
import { listPayments, type Payment } from './payment.ts'

const CONTROL_RULE = 'must contain no control characters except line breaks and tabs'
const text = (most: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1),
    v.maxLength(most),
    v.regex(/^(?:[^\p{Cc}\p{Cs}]|[\n\r\t])*$/u, CONTROL_RULE),
  )
/** The actor and the reason of a change; both are recorded. */
const By = { who: text(64), why: text(500) }
const ById = v.object({ order_id: OrderId, ...By })

type ListedOrder = Order & {
  readonly buyer: string | null
  readonly refunds_due: number
  readonly lost_payments: number
}
interface PayoutRow {
  order_id: OrderId
  ref_id: string
  seller: string
  amount: number
  due_at: number
  paid_at: number | null
  paid_reference: string | null
  is_held: number
}

/** The commands, by name. */
export function orderCommands(parts: {
  storage: Storage
  ledger: PaymentLedger
  clock: Clock
}): Readonly<Record<OrderCommandName, OperatorCommand>> {
  const { storage, ledger, clock } = parts
  return {
    /**
     * Lists orders, the newest first: all, those with one status or of one kind, those with refunds due, or
     * those with lost payments.
     */
    'orders.list': operatorCommand(
      v.object({
        status: v.optional(OrderState),
        kind: v.optional(OrderKind),
        refunds: v.optional(v.boolean(), false),
        lost: v.optional(v.boolean(), false),
        limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 50),
      }),
      async ({ status, kind, refunds, lost, limit }): Promise<OrderLine[]> => {
        const rows = await storage.sql<ListedOrder>`
          SELECT orders.*, accounts.alias_id AS buyer,
            (SELECT COUNT(*) FROM payments WHERE order_number = orders.id AND refund_amount IS NOT NULL
              AND refunded_at IS NULL) AS refunds_due,
            (SELECT COUNT(*) FROM payments WHERE order_number = orders.id AND lost = 'lost') AS lost_payments
          FROM orders LEFT JOIN accounts ON accounts.id = buyer_id
          WHERE (${status ?? ''} = '' OR status = ${status ?? ''}) AND (${kind ?? ''} = '' OR kind = ${kind ?? ''})
            AND (${refunds ? 1 : 0} = 0 OR orders.id IN (
              SELECT order_number FROM payments WHERE refund_amount IS NOT NULL AND refunded_at IS NULL))
            AND (${lost ? 1 : 0} = 0 OR orders.id IN (SELECT order_number FROM payments WHERE lost = 'lost'))
          ORDER BY orders.id DESC LIMIT ${limit}`
        return rows.map(lineOf)
      },
    ),

    /** Shows one order with its payments, its events, and its payout. */
    'orders.show': operatorCommand(
      v.object({ order_id: OrderId }),
      async ({ order_id }): Promise<OrderDetail> => {
        const order = await getOrder(storage.sql, order_id)
        const payments = await listPayments(storage.sql, order.id)
        const [payout] = await payoutsOf(storage.sql, order)
        return {
          order: await lineWith(storage.sql, order, payments),
          asset: order.asset,
          amount: order.amount,
          destinations: (await listDestinations(storage.sql, order.id)).map(
            ({ asset, provider, pay_to, amount }) => ({ asset, provider, pay_to, amount }),
          ),
          deposit_index: order.deposit_index,
          is_bound: order.bound_at !== null,
          payments: payments.map(paymentLineOf),
          payout: payout ?? null,
          events: await eventsOf(storage.sql, order),
        }
      },
    ),

    /**
     * Records the operator's statement that an order was paid in full. This confirms the order. A pending
     * order counts as paid in time. If the order has ended, this is late money; the status in the answer
     * shows whether it could still buy the goods, or is recorded for refund.
     */
    'orders.confirm': operatorCommand(
      v.object({ ...ById.entries, reference: v.optional(text(200)) }),
      async ({ order_id, reference, who, why }): Promise<OrderLine> => {
        const seen = `manual/${reference ?? order_id}`
        await ledger.transaction(async (entries, sql) => {
          const { buyer_id: buyer } = await getOrder(sql, order_id)
          // The buyer is locked before the order, as everywhere.
          if (buyer !== null) await lockAccounts(sql, [buyer])
          const order = await lockOrder(sql, order_id)
          if (!order) throw new OperatorRefusal(`there is no order ${order_id}`)
          if (order.pay_to === '')
            throw new OperatorRefusal(`no buyer knows yet where to pay for ${order_id}`)
          if (order.status === 'confirmed') throw new OperatorRefusal(`${order_id} is confirmed already`)
          const used = await sql<{ id: number }>`SELECT id FROM payments WHERE reference = ${seen}`
          if (used.length > 0) throw new OperatorRefusal(`a payment ${seen} is recorded already`)
          await addEvent(sql, order.id, { at: clock.now(), who, what: 'told that it was paid', why })
          await entries.record({
            ...{ reference: seen, scope: 'manual', for: { orderId: order_id }, asset: order.asset },
            ...{
              amount: await missingOf(sql, order),
              at: order.status === 'pending' ? Math.min(clock.now(), order.expires_at) : clock.now(),
              isFinal: true,
            },
          })
          // If two commands name the same payment at once, the second one finds it recorded only now.
          const [recorded] = await sql<{ order_number: OrderNumber }>`
            SELECT order_number FROM payments WHERE reference = ${seen}`
          if (recorded?.order_number !== order.id)
            throw new OperatorRefusal(`a payment ${seen} is recorded already`)
        }, who)
        const order = await getOrder(storage.sql, order_id)
        return await lineWith(storage.sql, order, await listPayments(storage.sql, order.id))
      },
    ),

    /** Records that a refund was paid. */
    'orders.refund-recorded': operatorCommand(
      v.object({ payment: text(300), reference: text(200), ...By }),
      ({ payment: name, reference, who, why }): Promise<PaymentLine> =>
        storage.transaction(async (sql) => {
          const now = clock.now()
          // Lock the payment's order too, because a judgement may be changing the refund.
          const [named] = await sql<Pick<Payment, 'order_number'>>`
            SELECT order_number FROM payments WHERE reference = ${name}`
          if (named) await lockOrderNumber(sql, named.order_number)
          const [payment] = await sql<Payment>`
            UPDATE payments SET refunded_at = ${now}, refund_reference = ${reference}
            WHERE reference = ${name} AND refund_amount IS NOT NULL AND refunded_at IS NULL RETURNING *`
          if (!payment) throw new OperatorRefusal(`no payment ${name} waits to be given back`)
          const what = `refunded ${payment.refund_amount} by ${reference}`
          await addEvent(sql, payment.order_number, { at: now, who, what, why })
          return paymentLineOf(payment)
        }),
    ),

    /** Records that the operator has dealt with the lost payments of an order. Its payout is due again. */
    'orders.settle-lost': operatorCommand(
      ById,
      ({ order_id, who, why }): Promise<OrderLine> =>
        storage.transaction(async (sql) => {
          const order = await lockOrder(sql, order_id)
          const settled =
            order &&
            (await sql<{ id: number }>`
              UPDATE payments SET lost = 'settled' WHERE order_number = ${order.id} AND lost = 'lost' RETURNING id`)
          if (!order || !settled?.length) throw new OperatorRefusal(`no payment of ${order_id} is lost`)
          await addEvent(sql, order.id, { at: clock.now(), who, what: 'lost payment settled', why })
          return await lineWith(sql, order, await listPayments(sql, order.id))
        }),
    ),

    /** Lists the payouts that are due to sellers of channels. */
    'payouts.due': operatorCommand(v.object({}), () => payoutsOf(storage.sql)),

    /** Records that a seller was paid. */
    'payouts.paid': operatorCommand(
      v.object({ ...ById.entries, reference: text(200) }),
      ({ order_id, reference, who, why }): Promise<PayoutLine> =>
        storage.transaction(async (sql) => {
          const now = clock.now()
          const order = await lockOrder(sql, order_id)
          if (order && (await isPayoutHeld(sql, order.id)))
            throw new OperatorRefusal(
              `the payout of ${order_id} is held, because a reorganisation removed the buyer's payment; see orders show`,
            )
          const paid =
            order &&
            (await sql<{ id: number }>`
              UPDATE payouts SET paid_at = ${now}, paid_reference = ${reference}
              WHERE order_number = ${order.id} AND paid_at IS NULL RETURNING id`)
          if (!order || !paid?.length) throw new OperatorRefusal(`no payout of ${order_id} is due`)
          await addEvent(sql, order.id, { at: now, who, what: `paid its seller by ${reference}`, why })
          const [payout] = await payoutsOf(sql, order)
          if (!payout) throw new Error('the payout no longer exists')
          return payout
        }),
    ),
  }
}

// The part of the price that is not covered by payments that are final and still count, in the order's asset.
// An expired order has none of those.
async function missingOf(sql: Sql, order: Order): Promise<bigint> {
  const payments = await listPayments(sql, order.id)
  const there = payments.filter(
    ({ state, outcome, problem, at }) =>
      state === 'final' && outcome === null && problem === null && at <= order.expires_at,
  )
  const opened = await findDestination(sql, order.id, order.asset)
  if (!opened) throw new Error('the order has no place to pay')
  return unitsThatPay(valueOfPrice(order.price) - sumOf(there), opened.decimals)
}

async function getOrder(sql: Sql, id: OrderId): Promise<Order> {
  const order = await findOrder(sql, id)
  if (!order) throw new OperatorRefusal(`there is no order ${id}`)
  return order
}

async function lineWith(sql: Sql, order: Order, payments: readonly Payment[]): Promise<OrderLine> {
  const refunds_due = payments.filter(isRefundDue).length
  const lost_payments = payments.filter(({ lost }) => lost === 'lost').length
  return lineOf({ ...order, buyer: await aliasOfAccount(sql, order.buyer_id), refunds_due, lost_payments })
}

async function aliasOfAccount(sql: Sql, id: AccountId | null): Promise<string | null> {
  const [row] = await sql<{ alias_id: string }>`SELECT alias_id FROM accounts WHERE id = ${id}`
  return row?.alias_id ?? null
}

/** The payouts that are due; or, with `order`, the payout of that order, due or paid. */
async function payoutsOf(sql: Sql, order?: Order): Promise<PayoutLine[]> {
  const rows = await sql<PayoutRow>`
    SELECT orders.order_id, orders.ref_id, accounts.alias_id AS seller, payouts.amount, due_at, paid_at, paid_reference,
      CASE WHEN paid_at IS NULL AND EXISTS (SELECT 1 FROM payments
        WHERE payments.order_number = orders.id AND lost IN ('missing', 'lost')) THEN 1 ELSE 0 END AS is_held
    FROM payouts JOIN orders ON orders.id = payouts.order_number JOIN accounts ON accounts.id = payouts.seller_id
    WHERE (${order?.id ?? 0} = 0 AND paid_at IS NULL) OR payouts.order_number = ${order?.id ?? 0} ORDER BY payouts.id`
  return rows.map(({ ref_id, amount, due_at, paid_at, is_held, ...row }) => ({
    ...{ ...row, channel_id: ref_id, price_usdt: amount, is_held: is_held === 1 },
    ...{ due_at: timeOf(due_at), paid_at: paid_at === null ? null : timeOf(paid_at) },
  }))
}

async function eventsOf(sql: Sql, order: Order) {
  const rows = await sql<OrderEvent>`
    SELECT at, who, what, why FROM order_events WHERE order_number = ${order.id} ORDER BY id`
  return rows.map(({ at, ...row }) => ({ at: timeOf(at), ...row }))
}

function lineOf(order: ListedOrder): OrderLine {
  const { order_id, kind, ref_id, status, price, buyer, pay_to, provider, refunds_due, lost_payments } = order
  return {
    ...{ order_id, kind, ref_id, status, price_usdt: price, buyer, pay_to, provider },
    created_at: timeOf(order.created_at),
    expires_at: timeOf(order.expires_at),
    confirmed_at: order.confirmed_at === null ? null : timeOf(order.confirmed_at),
    refunds_due,
    lost_payments,
    number: order.id,
  }
}

function paymentLineOf(payment: Payment): PaymentLine {
  const { reference, asset, amount, state, outcome, refund_amount, reason, refund_reference, lost } = payment
  const refunded_at = payment.refunded_at === null ? null : timeOf(payment.refunded_at)
  return {
    ...{ reference, asset, amount, at: timeOf(payment.at), state, outcome, refund_amount, reason },
    ...{ refunded_at, refund_reference, lost },
  }
}

function isRefundDue({ refund_amount, refunded_at }: Payment): boolean {
  return refund_amount !== null && refunded_at === null
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}
