// The places that were opened for orders to be paid at, as rows.
import type { Sql } from '../storage/storage.ts'
import type { OrderNumber } from './order.ts'

/** The row of a place to pay. The order keeps it for good: payments to it always belong to the order. */
export interface OpenedDestination {
  readonly order_number: OrderNumber
  /** The method by which it was opened. */
  readonly asset: string
  /** The name of its provider. */
  readonly provider: string
  readonly pay_to: string
  /** The decimal places of the asset. */
  readonly decimals: number
  /** The price in the asset's smallest unit. */
  readonly amount: string
  readonly hosted_page: string | null
}

/** The place of an order that was opened by this method. */
export async function findDestination(
  sql: Sql,
  order: OrderNumber,
  asset: string,
): Promise<OpenedDestination | undefined> {
  const [found] = await sql<OpenedDestination>`
    SELECT * FROM order_destinations WHERE order_number = ${order} AND asset = ${asset}`
  return found
}

/** Every place that was opened for an order. */
export function listDestinations(sql: Sql, order: OrderNumber): Promise<OpenedDestination[]> {
  return sql<OpenedDestination>`
    SELECT * FROM order_destinations WHERE order_number = ${order} ORDER BY asset`
}

/** The methods by which places were opened for an order. */
export async function openedAssets(sql: Sql, order: OrderNumber): Promise<string[]> {
  return (await listDestinations(sql, order)).map(({ asset }) => asset)
}

/** Stores a place to pay, unless one was opened by the same method meanwhile. @returns the stored one */
export async function addDestination(sql: Sql, opened: OpenedDestination): Promise<OpenedDestination> {
  const { order_number, asset, provider, pay_to, decimals, amount, hosted_page } = opened
  await sql`
    INSERT INTO order_destinations (order_number, asset, provider, pay_to, decimals, amount, hosted_page)
    VALUES (${order_number}, ${asset}, ${provider}, ${pay_to}, ${decimals}, ${amount}, ${hosted_page})
    ON CONFLICT (order_number, asset) DO NOTHING`
  return (await findDestination(sql, order_number, asset)) ?? opened
}

/** Makes a place the one that the order names to its buyer. */
export async function chooseDestination(sql: Sql, chosen: OpenedDestination): Promise<void> {
  const { order_number, asset, provider, pay_to, amount, hosted_page } = chosen
  await sql`
    UPDATE orders SET asset = ${asset}, provider = ${provider}, pay_to = ${pay_to}, amount = ${amount},
      hosted_page = ${hosted_page}
    WHERE id = ${order_number}`
}
