// What money means for its order: it confirms it, or it is recorded for refund. Never silently kept (protocol, "Payments").
import { lockAccounts } from '../accounts/accounts.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import type { AllGoods } from './goods.ts'
import { addEvent, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import { count, listPayments, type Payment, type RefundReason, refund } from './payment.ts'

interface By {
  readonly now: number
  readonly goods: AllGoods
  /** Who stands in the record for it. */
  readonly who: string
}

/**
 * Judges every payment of an order that is final and not judged yet.
 * @returns the order, where this confirmed it
 */
export async function judge(sql: Sql, number: OrderNumber, by: By): Promise<Order | undefined> {
  const [named] = await sql<{ buyer_id: AccountId | null }>`SELECT buyer_id FROM orders WHERE id = ${number}`
  // The account before the order, as in every transaction that locks both.
  const hasBuyer = named?.buyer_id != null
  const buyerExists = !named?.buyer_id || (await lockAccounts(sql, [named.buyer_id]))
  const order = await lockOrderNumber(sql, number)
  const unjudged = (await listPayments(sql, number)).filter(
    ({ state, outcome }) => state === 'final' && outcome === null,
  )
  const good: Payment[] = []
  for (const payment of unjudged) {
    const problem = payment.problem ?? (payment.asset === order.asset ? undefined : 'wrong_token')
    if (problem) await refund(sql, payment, problem, by)
    else good.push(payment)
  }
  if (good.length === 0) return undefined
  if (order.status === 'confirmed') return await refundAll(sql, good, 'twice', by)
  if (hasBuyer && !buyerExists) return await refundAll(sql, good, 'account_deleted', by)
  const paying = enough(good, BigInt(order.amount))
  if (!paying) {
    // An order that waits may still be topped up; what comes to less than the price of one that is over goes back.
    if (order.status === 'expired') await refundAll(sql, good, 'short', by)
    return undefined
  }
  const isFree = order.status === 'pending' || (await holdAgain(sql, order))
  if (!isFree) return await refundAll(sql, good, 'late', by)
  if (!(await by.goods[order.kind].deliver(sql, order))) {
    await sql`UPDATE orders SET status = 'expired', holds = NULL WHERE id = ${number}`
    return await refundAll(sql, good, order.status === 'pending' ? 'gone' : 'late', by)
  }
  await confirm(sql, order, by)
  for (const payment of paying.parts) await count(sql, payment, 0n, by)
  await count(sql, paying.last, paying.excess, by)
  await refundAll(sql, paying.beyond, 'twice', by)
  return order
}

async function confirm(sql: Sql, order: Order, { now, who, goods }: By): Promise<void> {
  const holds = goods[order.kind].isKept ? (order.holds ?? holdOf(order)) : null
  await sql`
    UPDATE orders SET status = 'confirmed', confirmed_at = ${now}, holds = ${holds} WHERE id = ${order.id}`
  const why = order.status === 'pending' ? 'it was paid' : 'it was paid late, and still free'
  await addEvent(sql, order.id, { at: now, who, what: 'confirmed', why })
  if (order.seller_id === null) return
  await sql`
    INSERT INTO payouts (order_number, seller_id, amount, due_at)
    VALUES (${order.id}, ${order.seller_id}, ${order.price}, ${now})`
  await addEvent(sql, order.id, { at: now, who, what: 'payout due', why: 'its seller is owed the price' })
}

/** What an order holds while it can be paid; undefined for what any number can be had of. */
function holdOf({ kind, ref_id }: Pick<Order, 'kind' | 'ref_id'>): string | null {
  switch (kind) {
    case 'vanity':
    case 'reserve':
      return `alias:${ref_id}`
    case 'channel':
      return `channel:${ref_id}`
    case 'quota':
      return null
    default:
      return kind satisfies never
  }
}

// Money that came late: the thing is free where nobody holds it. Whether it is there at all its kind knows.
async function holdAgain(sql: Sql, order: Order): Promise<boolean> {
  const holds = holdOf(order)
  if (holds === null) return true
  const changed = await sql<{ id: OrderNumber }>`
    UPDATE orders SET holds = ${holds}
    WHERE id = ${order.id} AND NOT EXISTS (SELECT 1 FROM orders AS others WHERE others.holds = ${holds})
    RETURNING id`
  return changed.length > 0
}

interface Enough {
  /** What came before the payment that made it enough. */
  readonly parts: readonly Payment[]
  readonly last: Payment
  readonly excess: bigint
  /** What came after it. */
  readonly beyond: readonly Payment[]
}

function enough(payments: readonly Payment[], price: bigint): Enough | undefined {
  let sum = 0n
  for (const [at, payment] of payments.entries()) {
    sum += BigInt(payment.amount)
    if (sum >= price) {
      const parts = payments.slice(0, at)
      return { parts, last: payment, excess: sum - price, beyond: payments.slice(at + 1) }
    }
  }
  return undefined
}

async function refundAll(
  sql: Sql,
  payments: readonly Payment[],
  reason: RefundReason,
  by: By,
): Promise<undefined> {
  for (const payment of payments) await refund(sql, payment, reason, by)
}
