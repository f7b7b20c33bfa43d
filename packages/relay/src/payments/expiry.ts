// The end of orders nobody paid for in time. An order that may have been paid keeps what it holds until that is known.
import type { Limits } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { workThrough } from '../operations/work-through.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import { addEvent, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import { listPayments, refund } from './payment.ts'
import type { PaymentProvider } from './provider.ts'

const PAGE_SIZE = 500

/** Whether an order's time is over, and it is known what was paid until then. */
export function isOver(order: Order, provider: PaymentProvider, now: number): boolean {
  // Of a provider that is not set up any more nothing will be heard.
  const seenUntil = order.provider === provider.name ? provider.seenUntil(now) : now
  return order.status === 'pending' && order.expires_at < Math.min(now, seenUntil)
}

/**
 * Ends an order whose time is over, unless enough was paid in time that may still be confirmed. Whatever arrived of it is
 * to be given back. Of a provider that is not set up any more nothing will be confirmed, so it holds nothing back.
 * @returns whether it is expired now
 */
export async function expireOrder(
  sql: Sql,
  order: Order,
  { provider, now }: { provider: PaymentProvider; now: number },
): Promise<boolean> {
  const payments = await listPayments(sql, order.id)
  const inTime = payments.filter(({ at, problem }) => at <= order.expires_at && problem === null)
  const alive = inTime.filter(({ state, outcome }) => state !== 'gone' && outcome === null)
  const paid = alive.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const mayBeConfirmed = order.provider === provider.name && alive.some(({ state }) => state === 'seen')
  if (order.pay_to !== '' && mayBeConfirmed && paid >= BigInt(order.amount)) return false
  await sql`UPDATE orders SET status = 'expired', holds = NULL WHERE id = ${order.id}`
  await addEvent(sql, order.id, { at: now, who: 'relay', what: 'expired', why: 'it was not paid in time' })
  for (const payment of payments) {
    if (payment.state === 'final' && payment.outcome === null)
      await refund(sql, payment, 'short', { now, who: 'relay' })
  }
  return true
}

/**
 * Ends what is over. Run again and again.
 * @param options.after the order at which the round before gave up
 * @returns the one at which this round gave up, if it did
 */
export async function sweepOrders(
  parts: { storage: Storage; provider: PaymentProvider; clock: Clock; limits: Limits; log: Log },
  { pageSize = PAGE_SIZE, after }: { pageSize?: number; after?: Order | undefined } = {},
): Promise<Order | undefined> {
  const { storage, provider, clock, limits, log } = parts
  const now = clock.now()
  let failed: Order | undefined
  let page = await overdueAfter(storage, { at: after?.expires_at ?? 0, id: after?.id ?? 0, now, pageSize })
  for (;;) {
    const over = page.filter((order) => isOver(order, provider, now))
    const onFailure = (error: unknown): void => log.error('order_sweep_failed', { error })
    failed = await workThrough(over, ({ id }) => expireOne(storage, id, parts), { onFailure })
    const last = page.at(-1)
    if (failed || !last || page.length < pageSize) break
    // Those that may have been paid stay, and must not hide what comes after them.
    page = await overdueAfter(storage, { at: last.expires_at, id: last.id, now, pageSize })
  }
  // Addresses are kept no longer than they are needed.
  const before = now - limits.holdAgainSeconds * 1000
  await storage.transaction(
    (sql) =>
      sql`UPDATE orders SET party = NULL WHERE party IS NOT NULL AND status <> 'pending' AND expires_at < ${before}`,
  )
  return failed
}

/** A page of the orders whose time is over, by their end. */
async function overdueAfter(
  { sql }: Storage,
  { at, id, now, pageSize }: { at: number; id: number; now: number; pageSize: number },
): Promise<Order[]> {
  return sql<Order>`
    SELECT * FROM orders
    WHERE status = 'pending' AND expires_at < ${now} AND (expires_at > ${at} OR (expires_at = ${at} AND id > ${id}))
    ORDER BY expires_at, id LIMIT ${pageSize}`
}

async function expireOne(
  storage: Storage,
  id: OrderNumber,
  { provider, clock }: { provider: PaymentProvider; clock: Clock },
): Promise<void> {
  await storage.transaction(async (sql) => {
    const order = await lockOrderNumber(sql, id)
    const now = clock.now()
    if (isOver(order, provider, now)) await expireOrder(sql, order, { provider, now })
  })
}
