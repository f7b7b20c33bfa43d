// What is to be known about orders: their time, and addresses that may be opened.
import type { OwnOrder } from '@sotto/client'

/**
 * How long an order is still held, in milliseconds. The relay's clock counts, which is never before the time
 * that an order was made at: a device whose clock is behind is corrected by that. Never longer than the
 * order was held at first.
 * @param nowMs the device's time
 * @param orders all orders that the relay told just now
 */
export function remainingMs(
  { created_at, expired_at }: Pick<OwnOrder, 'created_at' | 'expired_at'>,
  nowMs: number,
  orders: readonly Pick<OwnOrder, 'created_at'>[],
): number {
  const relayNowMs = Math.max(nowMs, ...orders.map((order) => Date.parse(order.created_at)))
  const end = Date.parse(expired_at)
  return Math.min(end - Date.parse(created_at), Math.max(0, end - relayNowMs))
}

/** The host of a payment page that is not the relay's own, for the user to know before paying. */
export function foreignHost(page: string, relayUrl: string): string | undefined {
  const { origin, host } = new URL(page)
  return origin === new URL(relayUrl).origin ? undefined : host
}

/** The payment page's address if a browser may open it: a relay can name anything. */
export function pageOf({ payment_url }: Pick<OwnOrder, 'payment_url'>): string | undefined {
  if (!URL.canParse(payment_url)) return undefined
  const { protocol, href } = new URL(payment_url)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}
