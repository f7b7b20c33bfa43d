// Judges payments: whether they were enough and in time. A payment confirms its order, or it is recorded for
// refund. No money is kept without a record (protocol, "Payments").
import { lockAccounts } from '../accounts/accounts.ts'
import type { Sql } from '../storage/storage.ts'
import { sumOf, unitsIn, valueOfPrice, worthOf } from './amounts.ts'
import type { AllGoods } from './goods.ts'
import { clearCovered, clearReturned } from './lost-payments.ts'
import { addEvent, findBuyer, lockOrderNumber, type Order, type OrderNumber } from './order.ts'
import { listPayments, markCounted, markForRefund, type Payment, type RefundReason } from './payment.ts'

interface By {
  readonly now: number
  readonly goods: AllGoods
  /** Recorded in the order's events as the one who did it. */
  readonly who: string
}

/**
 * Whether the payments that arrived before the order's end reach its price, and at least one of them is not
 * final yet. Such an order waits for the chain or the processor and does not expire.
 */
export function isPaidInTimeUnlessLost(order: Order, payments: readonly Payment[]): boolean {
  const inTime = payments.filter((payment) => isInTime(order, payment))
  const isSeen = inTime.some((payment) => payment.state === 'seen' && payment.problem === null)
  return isSeen && isPaidUnlessLost(order, inTime)
}

/** Whether the payments for an order that may still count reach its price. */
export function isPaidUnlessLost(order: Order, payments: readonly Payment[]): boolean {
  const alive = payments.filter(({ state, outcome, problem }) => {
    return state !== 'gone' && outcome === null && problem === null
  })
  return sumOf(alive) >= valueOfPrice(order.price)
}

/** Whether money that came after the order's end waits until the order has ended. */
export function hasLateMoney(order: Order, payments: readonly Payment[]): boolean {
  return payments.some((payment) => isUnjudged(payment) && !isInTime(order, payment))
}

function isInTime(order: Order, { at }: Payment): boolean {
  return at <= order.expires_at
}

function isUnjudged({ state, outcome }: Payment): boolean {
  return state === 'final' && outcome === null
}

/**
 * Judges every final payment of an order that is not judged yet. Money that came in time buys at the order's
 * price. Money that came late waits until the order has ended, and then buys what is still for sale, at the
 * present price.
 * @returns the order, if this confirmed it
 */
export async function judge(sql: Sql, number: OrderNumber, by: By): Promise<Order | undefined> {
  const buyer = await findBuyer(sql, number)
  const isBuyerGone = buyer !== null && !(await lockAccounts(sql, [buyer]))
  const order = await lockOrderNumber(sql, number)
  const payments = await listPayments(sql, number)
  const returned = payments.filter(({ state, lost }) => state === 'final' && lost !== null)
  await clearReturned(sql, returned, by)
  if (order.status === 'confirmed') await refundReplaced(sql, order, { payments, returned }, by)
  const good: Payment[] = []
  for (const payment of payments.filter(isUnjudged)) {
    const problem = payment.problem ?? (payment.decimals === null ? 'wrong_token' : undefined)
    if (problem) await markForRefund(sql, payment, problem, by)
    else good.push(payment)
  }
  if (good.length === 0) return undefined
  if (order.status === 'confirmed') return await coverLoss(sql, order, { payments, good, isBuyerGone }, by)
  if (isBuyerGone) return await markAllForRefund(sql, good, 'account_deleted', by)
  const paid = findFullPayment(good, valueOfPrice(order.price))
  if (paid && isInTime(order, paid.last)) return await sellInTime(sql, order, paid, by)
  // A pending order may still receive the rest in time. Then late money is a second payment.
  if (order.status === 'pending') return undefined
  return await sellLate(sql, order, good, by)
}

async function sellInTime(sql: Sql, order: Order, paid: FullPayment, by: By): Promise<Order | undefined> {
  const isFree = order.status === 'pending' || (await holdAgain(sql, order, by.goods))
  if (isFree && (await by.goods[order.kind].deliver(sql, order)))
    return await sell(sql, order, paid, { ...by, why: 'it was paid' })
  await sql`UPDATE orders SET status = 'expired', holds = NULL WHERE id = ${order.id}`
  return await markAllForRefund(sql, allOf(paid), 'gone', by)
}

// The order has ended, so this is a new purchase: of what is free, on sale now, and costs no more than was
// paid. The rest is recorded for refund.
async function sellLate(
  sql: Sql,
  order: Order,
  payments: readonly Payment[],
  by: By,
): Promise<Order | undefined> {
  const sold = by.goods[order.kind]
  const isLate = payments.some((payment) => !isInTime(order, payment))
  const isFree = isLate && (await holdAgain(sql, order, by.goods))
  const price = isFree ? await sold.priceNow(sql, order) : undefined
  const now = price === undefined ? undefined : { ...order, price, amount: amountOf(order, price).toString() }
  const paid = now && findFullPayment(payments, valueOfPrice(now.price))
  if (now && paid && (await sold.deliver(sql, now))) {
    await sql`UPDATE orders SET price = ${now.price}, amount = ${now.amount} WHERE id = ${order.id}`
    const why = `it was paid late, and still for sale at ${now.price}`
    return await sell(sql, now, paid, { ...by, why })
  }
  await sql`UPDATE orders SET holds = NULL WHERE id = ${order.id}`
  const isEnough = findFullPayment(payments, valueOfPrice(order.price)) !== undefined
  return await markAllForRefund(sql, payments, isEnough ? 'late' : 'short', by)
}

// More money for an order that is confirmed. It counts only if a reorganisation removed money that had
// counted.
async function coverLoss(
  sql: Sql,
  order: Order,
  found: { payments: readonly Payment[]; good: readonly Payment[]; isBuyerGone: boolean },
  by: By,
): Promise<undefined> {
  const { payments, good, isBuyerGone } = found
  // Its buyer deleted the account before the id was bound, so nothing is kept for this money.
  const isUnused = by.goods[order.kind].isBoundLater && order.holds === null && order.bound_at === null
  const hasLost = payments.some(({ lost }) => lost !== null)
  const missing = hasLost && !isUnused ? valueOfPrice(order.price) - valueCounted(payments) : 0n
  if (missing <= 0n)
    return await markAllForRefund(sql, good, isUnused && isBuyerGone ? 'account_deleted' : 'twice', by)
  const paid = findFullPayment(good, missing)
  for (const payment of paid?.before ?? good) await markCounted(sql, payment, 0n, by)
  if (!paid) return undefined
  await markCounted(sql, paid.last, paid.excess, by)
  await clearCovered(sql, order.id, by)
  await markAllForRefund(sql, paid.after, 'twice', by)
}

// Payments of which a part was given back keep their outcome while they are missing. If another payment took
// the place of one of them meanwhile, it is a second payment now.
async function refundReplaced(
  sql: Sql,
  order: Order,
  { payments, returned }: { payments: readonly Payment[]; returned: readonly Payment[] },
  by: By,
): Promise<void> {
  for (const payment of returned.filter(({ outcome }) => outcome === 'counted')) {
    const others = payments.filter(({ id }) => id !== payment.id)
    if (valueCounted(others) >= valueOfPrice(order.price)) await markForRefund(sql, payment, 'twice', by)
  }
}

// The value of the payments that count, without what is or was to be given back of them.
function valueCounted(payments: readonly Payment[]): bigint {
  const counted = payments.filter(({ state, outcome }) => state === 'final' && outcome === 'counted')
  const back = counted.map(({ refund_amount, decimals }) => ({ amount: refund_amount ?? '0', decimals }))
  return sumOf(counted) - sumOf(back)
}

async function sell(
  sql: Sql,
  order: Order,
  paid: FullPayment,
  by: By & { readonly why: string },
): Promise<Order> {
  await confirm(sql, order, by)
  for (const payment of paid.before) await markCounted(sql, payment, 0n, by)
  await markCounted(sql, paid.last, paid.excess, by)
  await markAllForRefund(sql, paid.after, 'twice', by)
  return order
}

// A price in whole units, in the smallest unit of the asset that the order is paid in.
function amountOf(order: Order, price: number): bigint {
  return (BigInt(order.amount) / BigInt(order.price)) * BigInt(price)
}

async function confirm(
  sql: Sql,
  order: Order,
  { now, who, goods, why }: By & { readonly why: string },
): Promise<void> {
  const sold = goods[order.kind]
  const holds = sold.isBoundLater ? (sold.holdOf(order.ref_id) ?? null) : null
  await sql`
    UPDATE orders SET status = 'confirmed', confirmed_at = ${now}, holds = ${holds} WHERE id = ${order.id}`
  await addEvent(sql, order.id, { at: now, who, what: 'confirmed', why })
  if (order.seller_id === null) return
  await sql`
    INSERT INTO payouts (order_number, seller_id, amount, due_at)
    VALUES (${order.id}, ${order.seller_id}, ${order.price}, ${now})`
  await addEvent(sql, order.id, { at: now, who, what: 'payout due', why: 'its seller is owed the price' })
}

// The order has ended: it holds its goods again, unless another order does. Its goods decide later whether
// they still exist.
async function holdAgain(sql: Sql, order: Order, goods: AllGoods): Promise<boolean> {
  const holds = goods[order.kind].holdOf(order.ref_id)
  if (holds === undefined) return true
  const changed = await sql<{ id: OrderNumber }>`
    UPDATE orders SET holds = ${holds}
    WHERE id = ${order.id} AND NOT EXISTS (SELECT 1 FROM orders AS others WHERE others.holds = ${holds})
    RETURNING id`
  return changed.length > 0
}

interface FullPayment {
  /** Payments before the one that reached the price. */
  readonly before: readonly Payment[]
  readonly last: Payment
  /** In the smallest unit of its asset, rounded down: what cannot be sent back stays. */
  readonly excess: bigint
  /** Payments after it. */
  readonly after: readonly Payment[]
}

function allOf({ before, last, after }: FullPayment): Payment[] {
  return [...before, last, ...after]
}

function findFullPayment(payments: readonly Payment[], price: bigint): FullPayment | undefined {
  let sum = 0n
  for (const [at, payment] of payments.entries()) {
    sum += worthOf(payment)
    if (sum >= price) {
      const excess = unitsIn(sum - price, payment.decimals ?? 0)
      return { before: payments.slice(0, at), last: payment, excess, after: payments.slice(at + 1) }
    }
  }
  return undefined
}

async function markAllForRefund(
  sql: Sql,
  payments: readonly Payment[],
  reason: RefundReason,
  by: By,
): Promise<undefined> {
  for (const payment of payments) await markForRefund(sql, payment, reason, by)
}
