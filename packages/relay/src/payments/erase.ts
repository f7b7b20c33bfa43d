// What becomes of an account's orders when it is deleted: what it has paid and not used is to be given back.
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
