// The endpoints that are the same for everything that is bought, and what an order looks like from outside.
import { AliasId, type ChannelTradeOrder, check, type OwnOrder, ProtocolError } from '@sotto/protocol'
import type { Handlers } from '../listener/route.ts'
import type { Storage } from '../storage/storage.ts'
import { findOrder, listOrders, type Order } from './order.ts'
import { paymentPagePath } from './page/payment-page.ts'

const MOST_ORDERS = 200

export function orderRoutes({
  storage,
  publicUrl,
}: {
  storage: Storage
  publicUrl: URL | undefined
}): Handlers<'listOrders' | 'orderStatus'> {
  return {
    listOrders: async ({ caller, host }) => {
      const orders = await listOrders(storage.sql, caller.id, MOST_ORDERS)
      return orders.map((order) => ownOrderOf(order, paymentUrlOf(order, { publicUrl, host })))
    },

    orderStatus: async ({ params }) => {
      const order = await findOrder(storage.sql, params.id)
      if (!order) throw new ProtocolError('NOT_FOUND')
      return { status: order.status, alias_id: aliasOf(order) ?? '' }
    },
  }
}

/** The id an order is for; undefined where it is for something else. */
export function aliasOf({ kind, ref_id }: Order): AliasId | undefined {
  if (kind !== 'vanity' && kind !== 'reserve') return undefined
  return check(AliasId, ref_id)
}

/** Where an order is paid: the processor's page, or the relay's own. */
export function paymentUrlOf(
  order: Order,
  { publicUrl, host }: { publicUrl: URL | undefined; host: string },
): string {
  return order.hosted_page ?? new URL(paymentPagePath(order.page_token), publicUrl ?? `http://${host}`).href
}

/** The order of a channel or a seat, as its buyer is told of it. */
export function tradeOrderOf(order: Order, paymentUrl: string): ChannelTradeOrder {
  return {
    order_id: order.order_id,
    price_usdt: order.price,
    pay_to: order.pay_to,
    payment_url: paymentUrl,
    expired_at: new Date(order.expires_at).toISOString(),
  }
}

function ownOrderOf(order: Order, paymentUrl: string): OwnOrder {
  const { order_id, kind, ref_id, status, price, pay_to } = order
  return {
    ...{ order_id, kind, ref_id, status, price_usdt: price, pay_to, payment_url: paymentUrl },
    created_at: new Date(order.created_at).toISOString(),
    expired_at: new Date(order.expires_at).toISOString(),
    ...(kind === 'vanity' || kind === 'reserve' ? { is_bound: order.bound_at !== null } : {}),
  }
}
