// Expires orders that were not paid in time. An order that may have been paid keeps its hold until the
// payments are known.
import type { Limits } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { workThrough } from '../operations/work-through.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import { openedAssets } from './destinations.ts'
import { hasLateMoney, isPaidInTimeUnlessLost } from './judgement.ts'
import type { PaymentLedger } from './ledger.ts'
import { addEvent, type Order, type OrderNumber } from './order.ts'
import { listPayments, markForRefund, type Payment } from './payment.ts'
import type { PaymentMethods } from './payment-methods.ts'

const BATCH_SIZE = 500
const DAY_MS = 86_400_000
const NOT_PAID = 'it was not paid in time'

interface ExpiryParts {
  readonly methods: PaymentMethods
  readonly limits: Limits
}

/**
 * Whether an order's time is over and all payments up to its end are known.
 * @param assets the methods by which places to pay were opened for it
 */
export function isOver(
  order: Order,
  assets: readonly string[],
  { methods, now }: { methods: PaymentMethods; now: number },
): boolean {
  return order.status === 'pending' && order.expires_at < methods.seenUntil(assets, now)
}

// A provider that is no longer set up confirms nothing, so payments that wait only for such a provider do not
// keep the order open for ever, but as long as late payments are watched.
function isWaiting(
  order: Order,
  payments: readonly Payment[],
  { methods, limits, now }: ExpiryParts & { now: number },
): boolean {
  const isWaitedFor =
    now <= order.expires_at + limits.watchDays * DAY_MS ||
    payments.some(({ state, asset }) => state === 'seen' && methods.providerOf(asset))
  return isWaitedFor && isPaidInTimeUnlessLost(order, payments)
}

/**
 * Expires an order, unless enough was paid in time that may still be confirmed. Money that arrived in time is
 * recorded for refund. If money also came late, all of it waits for the judgement, which must follow in this
 * transaction.
 * @returns whether the order is expired now
 */
async function expireOrder(sql: Sql, order: Order, parts: ExpiryParts & { now: number }): Promise<boolean> {
  const { now } = parts
  const payments = await listPayments(sql, order.id)
  if (isWaiting(order, payments, parts)) return false
  await sql`UPDATE orders SET status = 'expired', holds = NULL WHERE id = ${order.id}`
  await addEvent(sql, order.id, { at: now, who: 'relay', what: 'expired', why: NOT_PAID })
  if (hasLateMoney(order, payments)) return true
  for (const payment of payments) {
    if (payment.state === 'final' && payment.outcome === null)
      await markForRefund(sql, payment, 'short', { now, who: 'relay' })
  }
  return true
}

/**
 * Expires an overdue order, because another buyer wants what it holds. If late money waits for its end, the
 * sweep decides within seconds whether that buys the goods; until then the order keeps its hold.
 * @returns whether the order is expired now
 */
export async function makeRoom(
  sql: Sql,
  order: Order,
  parts: ExpiryParts & { now: number },
): Promise<boolean> {
  if (hasLateMoney(order, await listPayments(sql, order.id))) return false
  return await expireOrder(sql, order, parts)
}

interface SweepParts extends ExpiryParts {
  readonly storage: Storage
  readonly ledger: PaymentLedger
  readonly clock: Clock
  readonly log: Log
}

/**
 * Expires all orders whose time is over.
 * @param options.after the order at which the previous pass gave up
 * @returns the order at which this pass gave up, if any
 */
export async function sweepOrders(
  parts: SweepParts,
  { batchSize = BATCH_SIZE, after }: { batchSize?: number; after?: Order | undefined } = {},
): Promise<Order | undefined> {
  const { storage, methods, clock, log } = parts
  const now = clock.now()
  const onFailure = (error: unknown): void => log.error('order_sweep_failed', { error })
  let failed: Order | undefined
  let batch = await overdueAfter(storage, { at: after?.expires_at ?? 0, id: after?.id ?? 0, now, batchSize })
  for (;;) {
    const over = batch.filter((order) => isOver(order, order.assets?.split(' ') ?? [], { methods, now }))
    const unpaid = await expireUnpaid(over, parts)
    const others = over.filter(({ id }) => !unpaid.has(id))
    failed = await workThrough(others, (order) => expireOne(order, parts), { onFailure })
    const last = batch.at(-1)
    if (failed || !last || batch.length < batchSize) break
    // Orders that may have been paid stay pending. Continue after them, so that they do not block later ones.
    batch = await overdueAfter(storage, { at: last.expires_at, id: last.id, now, batchSize })
  }
  return failed
}

/** Deletes the network addresses of buyers that are no longer needed. Runs periodically. */
export async function forgetParties({
  storage,
  clock,
  limits,
}: Pick<SweepParts, 'storage' | 'clock'> & { readonly limits: Limits }): Promise<void> {
  const before = clock.now() - limits.holdAgainSeconds * 1000
  await storage.transaction(
    (sql) =>
      sql`UPDATE orders SET party = NULL WHERE party IS NOT NULL AND status <> 'pending' AND expires_at < ${before}`,
  )
}

interface OverdueOrder extends Order {
  /** The methods by which places to pay were opened, with spaces between them; null for none. */
  readonly assets: string | null
}

/** A batch of the orders whose time is over, in the order of their end. */
async function overdueAfter(
  { sql }: Storage,
  { at, id, now, batchSize }: { at: number; id: number; now: number; batchSize: number },
): Promise<OverdueOrder[]> {
  return sql<OverdueOrder>`
    SELECT orders.*, (SELECT STRING_AGG(opened.asset, ' ') FROM order_destinations AS opened
      WHERE order_number = orders.id) AS assets
    FROM orders
    WHERE status = 'pending' AND expires_at < ${now} AND (expires_at > ${at} OR (expires_at = ${at} AND id > ${id}))
    ORDER BY expires_at, id LIMIT ${batchSize}`
}

// Most orders that end were never paid. Many of them may end together, so they end in one transaction. An
// order that got a longer time since it was read goes on.
async function expireUnpaid(
  orders: readonly Order[],
  { storage, clock }: SweepParts,
): Promise<ReadonlySet<OrderNumber>> {
  if (orders.length === 0) return new Set()
  const now = clock.now()
  return await storage.transaction(async (sql) => {
    const expired = new Set<OrderNumber>()
    for (const { id } of orders.toSorted((a, b) => a.id - b.id)) {
      const ended = await sql<{ id: OrderNumber }>`
        UPDATE orders SET status = 'expired', holds = NULL
        WHERE id = ${id} AND status = 'pending' AND expires_at < ${now}
          AND NOT EXISTS (SELECT 1 FROM payments WHERE order_number = orders.id)
        RETURNING id`
      if (ended.length === 0) continue
      await addEvent(sql, id, { at: now, who: 'relay', what: 'expired', why: NOT_PAID })
      expired.add(id)
    }
    return expired
  })
}

async function expireOne(order: Order, parts: SweepParts): Promise<void> {
  const { id } = order
  const { storage, ledger, methods, limits, clock } = parts
  // Without a lock first: an order that was paid in time waits here for many blocks.
  if (isWaiting(order, await listPayments(storage.sql, id), { ...parts, now: clock.now() })) return
  await ledger.end(id, async (sql, locked) => {
    const now = clock.now()
    const isEnded = isOver(locked, await openedAssets(sql, id), { methods, now })
    return isEnded && (await expireOrder(sql, locked, { methods, limits, now }))
  })
}
