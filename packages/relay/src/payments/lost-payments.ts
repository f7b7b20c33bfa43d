// Payments that were final and judged, and that a reorganisation deeper than the confirmations removed: goods
// may have been handed over for them, or money given back. They are held to be missing until the blocks that
// replaced theirs are as deep as a payment needs. Those that did not return by then are lost, and are named
// to the operator.
import type { Log } from '../operations/log.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import { addEvent, lockBuyers, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import type { Payment } from './payment.ts'

/** A payment that is lost, with what the operator must know about it. */
export interface Loss {
  readonly payment: Payment
  readonly order: Order
  /** What the seller of the channel is owed for the order. */
  readonly payout: 'none' | 'held' | 'paid'
}

interface By {
  readonly now: number
  readonly who: string
}

/**
 * Retracts the final payments of a scope above a height. What was decided about them is undone, so that they
 * are judged again if they return; but money that was given back stays given back.
 */
export async function retractFinal(
  sql: Sql,
  { scope, height }: { scope: string; height: number },
  by: By,
): Promise<void> {
  const found = await sql<{ order_number: OrderNumber }>`
    SELECT DISTINCT order_number FROM payments
    WHERE scope = ${scope} AND height > ${height} AND state = 'final' ORDER BY order_number`
  const orders = found.map(({ order_number }) => order_number)
  await lockBuyers(sql, orders)
  for (const order of orders) {
    await lockOrderNumber(sql, order)
    const payments = await sql<Payment>`
      SELECT * FROM payments
      WHERE order_number = ${order} AND scope = ${scope} AND height > ${height} AND state = 'final' ORDER BY id`
    for (const payment of payments) await retractOne(sql, payment, by)
  }
}

async function retractOne(sql: Sql, payment: Payment, { now, who }: By): Promise<void> {
  const { id, order_number, outcome, refunded_at, reference } = payment
  if (outcome !== null)
    await addEvent(sql, order_number, {
      at: now,
      who,
      what: 'payment missing',
      why: `reorganised: ${reference}`,
    })
  // A refund that was not paid yet is not due as long as there is no money.
  const isGivenBack = refunded_at !== null
  const lost = outcome === 'counted' || isGivenBack ? 'missing' : null
  if (isGivenBack) await sql`UPDATE payments SET state = 'gone', lost = ${lost} WHERE id = ${id}`
  else
    await sql`
      UPDATE payments SET state = 'gone', lost = ${lost}, outcome = NULL, refund_amount = NULL, reason = NULL
      WHERE id = ${id}`
}

/** Marks those missing payments of a scope as lost whose blocks were replaced by blocks up to this height. */
export async function findLost(
  sql: Sql,
  { scope, height }: { scope: string; height: number },
): Promise<Payment[]> {
  return await sql<Payment>`
    UPDATE payments SET lost = 'lost'
    WHERE scope = ${scope} AND height <= ${height} AND lost = 'missing' AND state = 'gone' RETURNING *`
}

/**
 * Names a payment in the history of its order, if it is still lost after the judgement: another payment may
 * have taken its place in the same block.
 */
export async function reportLost(sql: Sql, { id }: Payment, { now, who }: By): Promise<Loss | undefined> {
  const [payment] = await sql<Payment>`SELECT * FROM payments WHERE id = ${id} AND lost = 'lost'`
  if (!payment) return undefined
  const order = await lockOrderNumber(sql, payment.order_number)
  const [owed] = await sql<{ paid_at: number | null }>`
    SELECT paid_at FROM payouts WHERE order_number = ${order.id}`
  const payout = owed === undefined ? 'none' : owed.paid_at === null ? 'held' : 'paid'
  const what = `payment lost, its payout is ${payout}`
  await addEvent(sql, order.id, { at: now, who, what, why: `reorganised: ${payment.reference}` })
  return { payment, order, payout }
}

/**
 * Says that payments which are final again are no longer missing or lost.
 * @param returned payments of one order, final, each with `lost` set
 */
export async function clearReturned(sql: Sql, returned: readonly Payment[], { now, who }: By): Promise<void> {
  for (const { id, order_number, reference } of returned) {
    await sql`UPDATE payments SET lost = NULL WHERE id = ${id}`
    await addEvent(sql, order_number, { at: now, who, what: 'payment found again', why: reference })
  }
}

/** Says that other payments cover what an order lost. Money that was given back stays lost. */
export async function clearCovered(sql: Sql, order: OrderNumber, { now, who }: By): Promise<void> {
  const covered = await sql<Payment>`
    UPDATE payments SET lost = NULL
    WHERE order_number = ${order} AND state <> 'final' AND lost IS NOT NULL AND refunded_at IS NULL RETURNING *`
  for (const { reference } of covered)
    await addEvent(sql, order, { at: now, who, what: 'lost payment replaced', why: reference })
}

/** Whether what the seller is owed for an order waits, because the buyer's money is missing or lost. */
export async function isPayoutHeld(sql: Sql, order: OrderNumber): Promise<boolean> {
  const rows = await sql<{ id: number }>`
    SELECT id FROM payments WHERE order_number = ${order} AND lost IN ('missing', 'lost')`
  return rows.length > 0
}

/** Whether a payment is lost and the operator has not settled it. */
export async function isAnyLost({ sql }: Storage): Promise<boolean> {
  const rows = await sql<{ id: number }>`SELECT id FROM payments WHERE lost = 'lost' LIMIT 1`
  return rows.length > 0
}

export function logLoss(log: Log, { payment, order, payout }: Loss): void {
  const { reference, amount } = payment
  log.error('payment_lost', { order: order.id, goods: order.kind, amount, payout, reason: reference })
}
