// What becomes of orders when their buyer's account is deleted, or what they are for: what was paid and is not used goes back.
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { addEvent, type Order } from './order.ts'
import { listPayments, refund } from './payment.ts'

/** Ends an account's orders: those that wait, and ids it has paid for and not bound. Money for them goes back. */
export async function eraseOrders(sql: Sql, account: AccountId, { clock }: { clock: Clock }): Promise<void> {
  const now = clock.now()
  const open = await sql<Order>`
    UPDATE orders SET holds = NULL, status = CASE WHEN status = 'pending' THEN 'expired' ELSE status END
    WHERE buyer_id = ${account} AND (status = 'pending' OR holds IS NOT NULL) RETURNING *`
  for (const { id } of open) {
    await addEvent(sql, id, { at: now, who: 'relay', what: 'ended', why: 'its buyer deleted the account' })
    const payments = await listPayments(sql, id)
    const kept = payments.filter(({ state, outcome }) => state === 'final' && outcome !== 'refund')
    for (const payment of kept) await refund(sql, payment, 'account_deleted', { now, who: 'relay' })
  }
}

/**
 * Ends the order that waits for something, such as `channel:ch_…`, because it is about to be no more: nobody is to pay for
 * it. Call it before the thing itself is locked, as orders are locked first everywhere.
 */
export async function endHold(sql: Sql, what: string, { clock }: { clock: Clock }): Promise<void> {
  const now = clock.now()
  const ended = await sql<Order>`
    UPDATE orders SET holds = NULL, status = 'expired' WHERE holds = ${what} AND status = 'pending' RETURNING *`
  for (const { id } of ended) {
    await addEvent(sql, id, { at: now, who: 'relay', what: 'ended', why: 'what it is for was deleted' })
    for (const payment of await listPayments(sql, id)) {
      const isOpen = payment.state === 'final' && payment.outcome === null
      if (isOpen) await refund(sql, payment, 'gone', { now, who: 'relay' })
    }
  }
}
