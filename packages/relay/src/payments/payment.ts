// A payment as a row: money that was seen, and what became of it. No row is ever deleted.
import type { Sql } from '../storage/storage.ts'
import { addEvent, type OrderNumber } from './order.ts'

/** Why money is to be given back. */
export type RefundReason =
  | 'wrong_token'
  | 'wrong_chain'
  /** Less than the price when the order ended. */
  | 'short'
  /** More than the price; what is over goes back. */
  | 'over'
  /** The order was paid already. */
  | 'twice'
  /** After its end, and what was ordered is free no more. */
  | 'late'
  /** What was ordered exists no more. */
  | 'gone'
  /** Its buyer exists no more. */
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
  readonly at: number
  readonly height: number | null
  readonly state: 'seen' | 'final' | 'gone'
  readonly problem: 'wrong_token' | 'wrong_chain' | null
  readonly outcome: 'counted' | 'refund' | null
  readonly refund_amount: string | null
  readonly reason: RefundReason | null
  readonly refunded_at: number | null
  readonly refund_reference: string | null
  readonly created_at: number
}

/** What was seen of money for an order, in the order it was paid. */
export function listPayments(sql: Sql, order: OrderNumber): Promise<Payment[]> {
  return sql<Payment>`SELECT * FROM payments WHERE order_number = ${order} ORDER BY at, id`
}

/** A payment pays for nothing: all of it is to be given back. */
export async function refund(
  sql: Sql,
  payment: Payment,
  reason: RefundReason,
  by: { now: number; who: string },
): Promise<void> {
  await sql`
    UPDATE payments SET outcome = 'refund', refund_amount = amount, reason = ${reason} WHERE id = ${payment.id}`
  await noteRefund(sql, payment, reason, by)
}

/** A payment counts; `excess` of it, if any, is to be given back. */
export async function count(
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
  await noteRefund(sql, payment, 'over', by)
}

async function noteRefund(
  sql: Sql,
  payment: Payment,
  reason: RefundReason,
  { now, who }: { now: number; who: string },
): Promise<void> {
  const what = 'refund due'
  await addEvent(sql, payment.order_number, { at: now, who, what, why: `${reason}: ${payment.reference}` })
}
