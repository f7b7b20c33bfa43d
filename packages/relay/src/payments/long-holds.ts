// Gives orders that are paid by hand more time, because a bank transfer takes days
// (docs/decisions/0049-long-holds.md).
import type { Sql } from '../storage/storage.ts'
import { addEvent, type Order, type OrderNumber } from './order.ts'

/**
 * Gives an order the longer time of its way to pay, counted from when it was placed, if it may have it: its
 * buyer has an account, no other order of this account has a longer time, and it still waits. An order that
 * has it keeps the end it was given. The end only moves later, so money that came in time stays in time.
 * @param order locked, and its buyer locked before it
 */
export async function holdLonger(
  sql: Sql,
  order: Order,
  { holdMs, now }: { holdMs: number; now: number },
): Promise<void> {
  const end = order.created_at + holdMs
  const isWaiting = order.status === 'pending' && now <= order.expires_at
  if (!isWaiting || order.is_held_long === 1 || end <= order.expires_at) return
  if (order.buyer_id === null || (await hasUsedUp(sql, order, now))) return
  await sql`UPDATE orders SET expires_at = ${end}, is_held_long = 1 WHERE id = ${order.id}`
  const why = `it is to be paid by hand, until ${new Date(end).toISOString()}`
  await addEvent(sql, order.id, { at: now, who: 'relay', what: 'held longer', why })
}

// One longer hold at a time. What an account held for long and did not pay, it does not hold for long again
// until as much time has passed.
async function hasUsedUp(sql: Sql, order: Order, now: number): Promise<boolean> {
  const held = order.holds === null ? '' : order.ref_id
  const others = await sql<{ id: OrderNumber }>`
    SELECT id FROM orders
    WHERE buyer_id = ${order.buyer_id} AND is_held_long = 1 AND id <> ${order.id}
      AND (status = 'pending'
        OR (status = 'expired' AND ref_id = ${held} AND expires_at + expires_at - created_at > ${now}))
    LIMIT 1`
  return others.length > 0
}
