// An order as a row, and the queries that the other payment files share.
import type { OrderId, OrderKind, OrderState, RefId } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import { releaseNotices } from '../messages/messages.ts'
import type { AccountId, Sql } from '../storage/storage.ts'

declare const orderNumber: unique symbol
/** The database's number of an order. It never leaves the relay. */
export type OrderNumber = number & { readonly [orderNumber]: true }

/** An order's row. */
export interface Order {
  readonly id: OrderNumber
  readonly order_id: OrderId
  readonly kind: OrderKind
  readonly ref_id: RefId
  /** A description for people: `the id ada`. */
  readonly title: string
  /** The key of what this order holds: no other order can hold it meanwhile. */
  readonly holds: string | null
  /** Null for an id that is reserved for the first account that binds it. */
  readonly buyer_id: AccountId | null
  readonly seller_id: AccountId | null
  /** Whole stablecoin units, at the time of ordering. */
  readonly price: number
  readonly deposit_index: number
  // This and the following four: the place to pay that the buyer chose last, or the first one. Other places
  // of the order that were opened before stay valid (destinations.ts).
  /** The name of the provider; empty until a place was opened. */
  readonly provider: string
  /** Where to pay; empty until a place was opened. */
  readonly pay_to: string
  readonly asset: string
  /** In the asset's smallest unit; empty while `pay_to` is empty. */
  readonly amount: string
  readonly hosted_page: string | null
  readonly page_token: string
  readonly status: OrderState
  readonly created_at: number
  readonly expires_at: number
  /** 1 if it got the longer time of an order that is paid by hand (long-holds.ts). */
  readonly is_held_long: number
  readonly confirmed_at: number | null
  readonly bound_at: number | null
  readonly bound_by: AccountId | null
}

/** The order with this id. */
export async function findOrder(sql: Sql, id: OrderId): Promise<Order | undefined> {
  const [order] = await sql<Order>`SELECT * FROM orders WHERE order_id = ${id}`
  return order
}

/** The order whose payment page has this token, once it was opened. */
export async function findOrderByPage(sql: Sql, token: string): Promise<Order | undefined> {
  const [order] = await sql<Order>`SELECT * FROM orders WHERE page_token = ${token} AND pay_to <> ''`
  return order
}

/** The order with this id, locked so that nobody else can change it before the transaction ends. */
export async function lockOrder(sql: Sql, id: OrderId): Promise<Order | undefined> {
  const [order] = await sql<Order>`UPDATE orders SET status = status WHERE order_id = ${id} RETURNING *`
  return order
}

/**
 * Like {@link lockOrder}, by number. @throws if it does not exist; an order that can be paid is never deleted
 */
export async function lockOrderNumber(sql: Sql, id: OrderNumber): Promise<Order> {
  const [order] = await sql<Order>`UPDATE orders SET status = status WHERE id = ${id} RETURNING *`
  if (!order) throw new Error('the order no longer exists')
  return order
}

/**
 * Locks the buyers of orders, in the order of their ids, before any order is locked. Every transaction that
 * locks both does it in this sequence.
 */
export async function lockBuyers(sql: Sql, orders: readonly OrderNumber[]): Promise<void> {
  const buyers = new Set<AccountId>()
  for (const number of orders) {
    const buyer = await findBuyer(sql, number)
    if (buyer !== null) buyers.add(buyer)
  }
  for (const buyer of [...buyers].sort((a, b) => a - b)) await lockAccounts(sql, [buyer])
}

/** The buyer of an order; null if it has none. */
export async function findBuyer(sql: Sql, number: OrderNumber): Promise<AccountId | null> {
  const [order] = await sql<{ buyer_id: AccountId | null }>`SELECT buyer_id FROM orders WHERE id = ${number}`
  return order?.buyer_id ?? null
}

/** An account's orders of every kind, the newest first, at most `most`. */
export function listOrders(sql: Sql, buyer: AccountId, most: number): Promise<Order[]> {
  return sql<Order>`
    SELECT * FROM orders WHERE buyer_id = ${buyer} AND pay_to <> '' ORDER BY id DESC LIMIT ${most}`
}

/** Whether an order holds this key, such as `alias:ada`. Then nobody else can order it. */
export async function isHeld(sql: Sql, what: string): Promise<boolean> {
  const rows = await sql<{ id: OrderNumber }>`SELECT id FROM orders WHERE holds = ${what}`
  return rows.length > 0
}

/** Records that an account bound the id of an order. */
export async function markBound(sql: Sql, order: Order, by: AccountId, now: number): Promise<void> {
  await sql`UPDATE orders SET bound_at = ${now}, bound_by = ${by}, holds = NULL WHERE id = ${order.id}`
  await releaseNotices(sql, order.id)
  await addEvent(sql, order.id, { at: now, who: 'relay', what: 'bound', why: 'its owner bound it' })
}

/** When something was last sold, in milliseconds since 1970. */
export async function soldAt(sql: Sql, refId: string): Promise<number | undefined> {
  const [row] = await sql<{ at: number | null }>`
    SELECT MAX(confirmed_at) AS at FROM orders WHERE ref_id = ${refId} AND status = 'confirmed'`
  return row?.at ?? undefined
}

/** An event of an order. */
export interface OrderEvent {
  readonly at: number
  /** `relay`, or the operator who ran a command. */
  readonly who: string
  readonly what: string
  readonly why: string
}

/** Records an event of an order. */
export async function addEvent(sql: Sql, order: OrderNumber, event: OrderEvent): Promise<void> {
  await sql`
    INSERT INTO order_events (order_number, at, who, what, why)
    VALUES (${order}, ${event.at}, ${event.who}, ${event.what}, ${event.why})`
}
