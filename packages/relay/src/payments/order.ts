// An order as a row, and what the rest of this room asks of it.
import type { OrderId, OrderKind, OrderState, RefId } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'

declare const orderNumber: unique symbol
/** The store's number of an order. Never leaves the relay. */
export type OrderNumber = number & { readonly [orderNumber]: true }

/** An order's row. */
export interface Order {
  readonly id: OrderNumber
  readonly order_id: OrderId
  readonly kind: OrderKind
  readonly ref_id: RefId
  /** What is bought, for people to read: `the id ada`. */
  readonly title: string
  /** What nobody else can order meanwhile. */
  readonly holds: string | null
  /** Nobody, for an id that is reserved for whoever binds it. */
  readonly buyer_id: AccountId | null
  readonly seller_id: AccountId | null
  /** Whole stablecoin units, as they were when it was ordered. */
  readonly price: number
  readonly provider: string
  readonly deposit_index: number
  /** Empty until the provider has given it. */
  readonly pay_to: string
  readonly asset: string
  /** In the asset's smallest unit; empty as long as `pay_to`. */
  readonly amount: string
  readonly hosted_page: string | null
  readonly page_token: string
  readonly status: OrderState
  readonly created_at: number
  readonly expires_at: number
  readonly confirmed_at: number | null
  readonly bound_at: number | null
  readonly bound_by: AccountId | null
}

/** The order of this id. */
export async function findOrder(sql: Sql, id: OrderId): Promise<Order | undefined> {
  const [order] = await sql<Order>`SELECT * FROM orders WHERE order_id = ${id}`
  return order
}

/** The order of this id, which nobody else can change before the transaction ends. */
export async function lockOrder(sql: Sql, id: OrderId): Promise<Order | undefined> {
  const [order] = await sql<Order>`UPDATE orders SET status = status WHERE order_id = ${id} RETURNING *`
  return order
}

/** The same by its number. @throws where there is none: orders are never deleted once they can be paid */
export async function lockOrderNumber(sql: Sql, id: OrderNumber): Promise<Order> {
  const [order] = await sql<Order>`UPDATE orders SET status = status WHERE id = ${id} RETURNING *`
  if (!order) throw new Error('an order is not there any more')
  return order
}

/** An account's orders of every kind, the newest first, at most `most`. */
export function listOrders(sql: Sql, buyer: AccountId, most: number): Promise<Order[]> {
  return sql<Order>`
    SELECT * FROM orders WHERE buyer_id = ${buyer} AND pay_to <> '' ORDER BY id DESC LIMIT ${most}`
}

/** Whether something can be ordered by nobody now, such as `alias:ada`. */
export async function isHeld(sql: Sql, what: string): Promise<boolean> {
  const rows = await sql<{ id: OrderNumber }>`SELECT id FROM orders WHERE holds = ${what}`
  return rows.length > 0
}

/** The id of an order was taken over by an account. */
export async function markBound(sql: Sql, order: Order, by: AccountId, now: number): Promise<void> {
  await sql`UPDATE orders SET bound_at = ${now}, bound_by = ${by}, holds = NULL WHERE id = ${order.id}`
  await addEvent(sql, order.id, { at: now, who: 'relay', what: 'bound', why: 'its owner bound it' })
}

/** When a thing was last sold, in milliseconds since 1970. */
export async function soldAt(sql: Sql, refId: string): Promise<number | undefined> {
  const [row] = await sql<{ at: number | null }>`
    SELECT MAX(confirmed_at) AS at FROM orders WHERE ref_id = ${refId} AND status = 'confirmed'`
  return row?.at ?? undefined
}

/** Something that happened to an order. */
export interface OrderEvent {
  readonly at: number
  /** `relay`, or who told it to on the machine. */
  readonly who: string
  readonly what: string
  readonly why: string
}

/** Keeps who did what to an order, when and why. */
export async function addEvent(sql: Sql, order: OrderNumber, event: OrderEvent): Promise<void> {
  await sql`
    INSERT INTO order_events (order_number, at, who, what, why)
    VALUES (${order}, ${event.at}, ${event.who}, ${event.what}, ${event.why})`
}
