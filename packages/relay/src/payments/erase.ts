// Ends orders when their buyer's account or their goods are deleted. Money that was paid for goods that were
// not used is recorded for refund.
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { addEvent, type Order } from './order.ts'
import { listPayments, markForRefund } from './payment.ts'

/**
 * Ends an account's orders: pending ones, and ids that were paid for but not bound. Their money is recorded
 * for refund.
 */
export async function eraseOrders(sql: Sql, account: AccountId, { clock }: { clock: Clock }): Promise<void> {
  const now = clock.now()
  const open = await sql<Order>`
    UPDATE orders SET holds = NULL, status = CASE WHEN status = 'pending' THEN 'expired' ELSE status END
    WHERE buyer_id = ${account} AND (status = 'pending' OR holds IS NOT NULL) RETURNING *`
  for (const { id } of open) {
    await addEvent(sql, id, { at: now, who: 'relay', what: 'ended', why: 'its buyer deleted the account' })
    const payments = await listPayments(sql, id)
    const unused = payments.filter(({ state, outcome }) => state === 'final' && outcome !== 'refund')
    for (const payment of unused) await markForRefund(sql, payment, 'account_deleted', { now, who: 'relay' })
  }
}

/**
 * Ends the pending order that holds something, such as `channel:ch_…`, because it is about to be deleted and
 * nobody should pay for it. Call this before locking the thing itself: orders are locked first everywhere.
 * @param why for the history of the order
 */
export async function endHold(
  sql: Sql,
  what: string,
  { clock }: { clock: Clock },
  why = 'what it is for was deleted',
): Promise<void> {
  const now = clock.now()
  const ended = await sql<Order>`
    UPDATE orders SET holds = NULL, status = 'expired' WHERE holds = ${what} AND status = 'pending' RETURNING *`
  for (const { id } of ended) {
    await addEvent(sql, id, { at: now, who: 'relay', what: 'ended', why })
    for (const payment of await listPayments(sql, id)) {
      const isOpen = payment.state === 'final' && payment.outcome === null
      if (isOpen) await markForRefund(sql, payment, 'gone', { now, who: 'relay' })
    }
  }
}
