// A payment as a row: money that was seen, and how it was judged. Rows of payments are never deleted.
import type { Sql } from '../storage/storage.ts'
import { addEvent, type OrderNumber } from './order.ts'

/** Why money is recorded for refund. */
export type RefundReason =
  | 'wrong_token'
  | 'wrong_chain'
  /** Less than the price when the order ended. */
  | 'short'
  /** More than the price; the excess is refunded. */
  | 'over'
  /** The order was paid already. */
  | 'twice'
  /** It came after the order's end, and the goods were no longer for sale at what was paid. */
  | 'late'
  /** It came in time, but what was ordered is no longer available. */
  | 'gone'
  /** The buyer's account was deleted. */
  | 'account_deleted'

/** A payment's row. */
export interface Payment {
  readonly id: number
  readonly reference: string
  readonly scope: string
  readonly order_number: OrderNumber
  readonly asset: string
  /** In the asset's smallest unit. */
  readonly amount: string
  /** The decimal places of the asset; null if orders cannot be paid in it. */
  readonly decimals: number | null
  readonly at: number
  readonly height: number | null
  readonly state: 'seen' | 'final' | 'gone'
  readonly problem: 'wrong_token' | 'wrong_chain' | null
  readonly outcome: 'counted' | 'refund' | null
  readonly refund_amount: string | null
  readonly reason: RefundReason | null
  readonly refunded_at: number | null
  readonly refund_reference: string | null
  /**
   * Set if a reorganisation removed the payment after it had counted, or had been given back. `missing` until
   * the blocks that replaced its block are deep enough, then `lost`; `settled` by the operator.
   */
  readonly lost: 'missing' | 'lost' | 'settled' | null
  readonly created_at: number
}

/** The payments for an order, by the time they were paid. */
export function listPayments(sql: Sql, order: OrderNumber): Promise<Payment[]> {
  return sql<Payment>`SELECT * FROM payments WHERE order_number = ${order} ORDER BY at, id`
}

/** Records that a payment does not count: all of it is to be refunded, less what was refunded before. */
export async function markForRefund(
  sql: Sql,
  payment: Payment,
  reason: RefundReason,
  by: { now: number; who: string },
): Promise<void> {
  // An excess may have been refunded already; the order's events show that.
  const back = payment.refunded_at === null ? 0n : BigInt(payment.refund_amount ?? 0)
  await sql`
    UPDATE payments SET outcome = 'refund', refund_amount = ${(BigInt(payment.amount) - back).toString()},
      reason = ${reason}, refunded_at = NULL, refund_reference = NULL
    WHERE id = ${payment.id}`
  await addRefundEvent(sql, payment, reason, by)
}

/** Records that a payment counts. `excess` of it, if any, is to be refunded. */
export async function markCounted(
  sql: Sql,
  payment: Payment,
  excess: bigint,
  by: { now: number; who: string },
): Promise<void> {
  if (excess === 0n) {
    await sql`UPDATE payments SET outcome = 'counted' WHERE id = ${payment.id}`
    return
  }
  await sql`
    UPDATE payments SET outcome = 'counted', refund_amount = ${excess.toString()}, reason = 'over'
    WHERE id = ${payment.id}`
  await addRefundEvent(sql, payment, 'over', by)
}

async function addRefundEvent(
  sql: Sql,
  payment: Payment,
  reason: RefundReason,
  { now, who }: { now: number; who: string },
): Promise<void> {
  const what = 'refund due'
  await addEvent(sql, payment.order_number, { at: now, who, what, why: `${reason}: ${payment.reference}` })
}
