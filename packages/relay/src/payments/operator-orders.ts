// What an operator can see and do of orders. Every change is kept with who, when and why.
import { OrderId, OrderKind, OrderState } from '@sotto/protocol'
import * as v from 'valibot'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../operations/operator-command.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import type { PaymentLedger } from './ledger.ts'
import type { OrderCommandName, OrderDetail, OrderLine, PaymentLine, PayoutLine } from './operator-answers.ts'
import { addEvent, findOrder, lockOrder, type Order, type OrderEvent, type OrderNumber } from './order.ts'
import { listPayments, type Payment } from './payment.ts'

const text = (most: number) => v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(most))
/** Who did something, and why: kept with it. */
const By = { who: text(64), why: text(500) }
const ById = v.object({ order_id: OrderId, ...By })

type ListedOrder = Order & { readonly buyer: string | null; readonly refunds_due: number }
interface PayoutRow {
  order_id: OrderId
  ref_id: string
  seller: string
  amount: number
  due_at: number
  paid_at: number | null
  paid_reference: string | null
}

/** The commands, by name. */
export function orderCommands(parts: {
  storage: Storage
  ledger: PaymentLedger
  clock: Clock
}): Readonly<Record<OrderCommandName, OperatorCommand>> {
  const { storage, ledger, clock } = parts
  return {
    /** Orders, the newest first: all, of one status, or those with money to be given back. */
    'orders.list': operatorCommand(
      v.object({
        status: v.optional(OrderState),
        kind: v.optional(OrderKind),
        refunds: v.optional(v.boolean(), false),
        limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 50),
      }),
      async ({ status, kind, refunds, limit }): Promise<OrderLine[]> => {
        const rows = await storage.sql<ListedOrder>`
          SELECT orders.*, accounts.alias_id AS buyer,
            (SELECT COUNT(*) FROM payments WHERE order_number = orders.id AND refund_amount IS NOT NULL
              AND refunded_at IS NULL) AS refunds_due
          FROM orders LEFT JOIN accounts ON accounts.id = buyer_id
          WHERE (${status ?? ''} = '' OR status = ${status ?? ''}) AND (${kind ?? ''} = '' OR kind = ${kind ?? ''})
            AND (${refunds ? 1 : 0} = 0 OR orders.id IN (
              SELECT order_number FROM payments WHERE refund_amount IS NOT NULL AND refunded_at IS NULL))
          ORDER BY orders.id DESC LIMIT ${limit}`
        return rows.map(lineOf)
      },
    ),

    /** One order with its payments, what was done to it, and what its seller is owed. */
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
          deposit_index: order.deposit_index,
          is_bound: order.bound_at !== null,
          payments: payments.map(paymentLineOf),
          payout: payout ?? null,
          events: await eventsOf(storage.sql, order),
        }
      },
    ),

    /**
     * Takes the operator's own word that an order was paid in full. It is confirmed by that, or, where it is over and what was
     * ordered is free no more, the money is recorded to be given back: its status tells.
     */
    'orders.confirm': operatorCommand(
      v.object({ ...ById.entries, reference: v.optional(text(200)) }),
      async ({ order_id, reference, who, why }): Promise<OrderLine> => {
        const seen = `manual/${reference ?? order_id}`
        await ledger.transaction(async (entries, sql) => {
          const { buyer_id: buyer } = await getOrder(sql, order_id)
          if (buyer !== null) await lockAccounts(sql, [buyer]) // Before the order, as everywhere.
          const order = await lockOrder(sql, order_id)
          if (!order) throw new OperatorRefusal(`there is no order ${order_id}`)
          if (order.pay_to === '')
            throw new OperatorRefusal(`nobody was told yet where to pay for ${order_id}`)
          if (order.status === 'confirmed') throw new OperatorRefusal(`${order_id} is confirmed already`)
          const used = await sql<{ id: number }>`SELECT id FROM payments WHERE reference = ${seen}`
          if (used.length > 0) throw new OperatorRefusal(`a payment ${seen} is recorded already`)
          await addEvent(sql, order.id, { at: clock.now(), who, what: 'told that it was paid', why })
          await entries.record({
            ...{ reference: seen, scope: 'manual', for: { orderId: order_id }, asset: order.asset },
            ...{
              amount: missingOf(order, await listPayments(sql, order.id)),
              at: clock.now(),
              isFinal: true,
            },
          })
          // Of two at once that name one payment, the second finds it taken only now.
          const [recorded] = await sql<{ order_number: OrderNumber }>`
            SELECT order_number FROM payments WHERE reference = ${seen}`
          if (recorded?.order_number !== order.id)
            throw new OperatorRefusal(`a payment ${seen} is recorded already`)
        }, who)
        const order = await getOrder(storage.sql, order_id)
        return await lineWith(storage.sql, order, await listPayments(storage.sql, order.id))
      },
    ),

    /** Notes that money was given back. */
    'orders.refund-recorded': operatorCommand(
      v.object({ payment: text(300), reference: text(200), ...By }),
      ({ payment: name, reference, who, why }): Promise<PaymentLine> =>
        storage.transaction(async (sql) => {
          const now = clock.now()
          const [payment] = await sql<Payment>`
            UPDATE payments SET refunded_at = ${now}, refund_reference = ${reference}
            WHERE reference = ${name} AND refund_amount IS NOT NULL AND refunded_at IS NULL RETURNING *`
          if (!payment) throw new OperatorRefusal(`no payment ${name} waits to be given back`)
          const what = `refunded ${payment.refund_amount} by ${reference}`
          await addEvent(sql, payment.order_number, { at: now, who, what, why })
          return paymentLineOf(payment)
        }),
    ),

    /** What sellers of channels are owed. */
    'payouts.due': operatorCommand(v.object({}), () => payoutsOf(storage.sql)),

    /** Notes that a seller was paid. */
    'payouts.paid': operatorCommand(
      v.object({ ...ById.entries, reference: text(200) }),
      ({ order_id, reference, who, why }): Promise<PayoutLine> =>
        storage.transaction(async (sql) => {
          const now = clock.now()
          const order = await lockOrder(sql, order_id)
          const paid =
            order &&
            (await sql<{ id: number }>`
              UPDATE payouts SET paid_at = ${now}, paid_reference = ${reference}
              WHERE order_number = ${order.id} AND paid_at IS NULL RETURNING id`)
          if (!order || !paid?.length) throw new OperatorRefusal(`no payout of ${order_id} is due`)
          await addEvent(sql, order.id, { at: now, who, what: `paid its seller by ${reference}`, why })
          const [payout] = await payoutsOf(sql, order)
          if (!payout) throw new Error('a payout is not there any more')
          return payout
        }),
    ),
  }
}

// What counts of the payments that are there needs no second telling. An order whose time is over keeps none.
function missingOf(order: Order, payments: readonly Payment[]): bigint {
  const there = payments.filter(
    ({ state, outcome, asset, problem }) =>
      state === 'final' && outcome === null && problem === null && asset === order.asset,
  )
  return there.reduce((missing, { amount }) => missing - BigInt(amount), BigInt(order.amount))
}

async function getOrder(sql: Sql, id: OrderId): Promise<Order> {
  const order = await findOrder(sql, id)
  if (!order) throw new OperatorRefusal(`there is no order ${id}`)
  return order
}

async function lineWith(sql: Sql, order: Order, payments: readonly Payment[]): Promise<OrderLine> {
  const refunds_due = payments.filter(isRefundDue).length
  return lineOf({ ...order, buyer: await aliasOfAccount(sql, order.buyer_id), refunds_due })
}

async function aliasOfAccount(sql: Sql, id: AccountId | null): Promise<string | null> {
  const [row] = await sql<{ alias_id: string }>`SELECT alias_id FROM accounts WHERE id = ${id}`
  return row?.alias_id ?? null
}

/** Those that are due, or that of one order, due or paid. */
async function payoutsOf(sql: Sql, order?: Order): Promise<PayoutLine[]> {
  const rows = await sql<PayoutRow>`
    SELECT orders.order_id, orders.ref_id, accounts.alias_id AS seller, payouts.amount, due_at, paid_at, paid_reference
    FROM payouts JOIN orders ON orders.id = order_number JOIN accounts ON accounts.id = payouts.seller_id
    WHERE (${order?.id ?? 0} = 0 AND paid_at IS NULL) OR order_number = ${order?.id ?? 0} ORDER BY payouts.id`
  return rows.map(({ ref_id, amount, due_at, paid_at, ...row }) => ({
    ...{ ...row, channel_id: ref_id, price_usdt: amount },
    ...{ due_at: timeOf(due_at), paid_at: paid_at === null ? null : timeOf(paid_at) },
  }))
}

async function eventsOf(sql: Sql, order: Order) {
  const rows = await sql<OrderEvent>`
    SELECT at, who, what, why FROM order_events WHERE order_number = ${order.id} ORDER BY id`
  return rows.map(({ at, ...row }) => ({ at: timeOf(at), ...row }))
}

function lineOf(order: ListedOrder): OrderLine {
  const { order_id, kind, ref_id, status, price, buyer, pay_to, provider, refunds_due } = order
  return {
    ...{ order_id, kind, ref_id, status, price_usdt: price, buyer, pay_to, provider },
    created_at: timeOf(order.created_at),
    expires_at: timeOf(order.expires_at),
    confirmed_at: order.confirmed_at === null ? null : timeOf(order.confirmed_at),
    refunds_due,
  }
}

function paymentLineOf(payment: Payment): PaymentLine {
  const { reference, asset, amount, state, outcome, refund_amount, reason, refund_reference } = payment
  const refunded_at = payment.refunded_at === null ? null : timeOf(payment.refunded_at)
  return {
    ...{ reference, asset, amount, at: timeOf(payment.at), state, outcome, refund_amount, reason },
    ...{ refunded_at, refund_reference },
  }
}

function isRefundDue({ refund_amount, refunded_at }: Payment): boolean {
  return refund_amount !== null && refunded_at === null
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}
