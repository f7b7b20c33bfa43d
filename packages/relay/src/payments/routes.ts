// The endpoint that lists an account's own orders, and the address where an order is paid.
import type { OwnOrder } from '@sotto/protocol'
import type { Handlers } from '../listener/route.ts'
import type { Storage } from '../storage/storage.ts'
import type { AllGoods } from './goods.ts'
import { listOrders, type Order } from './order.ts'
import { paymentPagePath } from './payment-page/payment-page.ts'

const MOST_ORDERS = 200

export function orderRoutes({
  storage,
  goods,
  publicUrl,
}: {
  storage: Storage
  goods: AllGoods
  publicUrl: URL | undefined
}): Handlers<'listOrders'> {
  return {
    listOrders: async ({ caller, host }) => {
      const orders = await listOrders(storage.sql, caller.id, MOST_ORDERS)
      return orders.map((order) => ({
        ...ownOrderOf(order, paymentUrlOf(order, { publicUrl, host })),
        ...(goods[order.kind].isBoundLater ? { is_bound: order.bound_at !== null } : {}),
      }))
    },
  }
}

/** The URL where an order is paid: the processor's page or the relay's own. */
export function paymentUrlOf(
  order: Order,
  { publicUrl, host }: { publicUrl: URL | undefined; host: string },
): string {
  return order.hosted_page ?? new URL(paymentPagePath(order.page_token), publicUrl ?? `http://${host}`).href
}

function ownOrderOf(order: Order, paymentUrl: string): OwnOrder {
  const { order_id, kind, ref_id, status, price, pay_to } = order
  return {
    ...{ order_id, kind, ref_id, status, price_usdt: price, pay_to, payment_url: paymentUrl },
    created_at: new Date(order.created_at).toISOString(),
    expired_at: new Date(order.expires_at).toISOString(),
  }
}
