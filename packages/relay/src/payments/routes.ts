// The endpoints of orders of every kind, and what an order's reply says about paying.
import { type OrderMethod, type OwnOrder, ProtocolError } from '@sotto/protocol'
import type { Handlers } from '../listener/route.ts'
import { addressBelow } from '../operations/public-url.ts'
import type { Storage } from '../storage/storage.ts'
import type { AllGoods } from './goods.ts'
import { listOrders, type Order } from './order.ts'
import type { Orders } from './orders.ts'
import type { PaymentMethods } from './payment-methods.ts'
import { paymentPagePath } from './payment-page/payment-page.ts'

const MOST_ORDERS = 200

/** How an order is paid, as replies say it. */
export interface HowToPay {
  readonly pay_to: string
  /** The page where it is paid: the relay's own, or the processor's if there is no other way. */
  readonly payment_url: string
  /** The way that `pay_to` belongs to. */
  readonly method: string
  /** The ways that can be chosen now. */
  readonly methods: OrderMethod[]
}

/** Says how to pay for an order that was opened. @param host the host that the client asked */
export type DescribePaying = (order: Order, host: string) => HowToPay

/** Makes {@link DescribePaying} for a relay. */
export function describePayingWith({
  publicUrl,
  methods,
}: {
  publicUrl: URL | undefined
  methods: PaymentMethods
}): DescribePaying {
  return (order, host) => ({
    pay_to: order.pay_to,
    payment_url:
      (methods.isOnlyOne ? order.hosted_page : null) ??
      addressBelow(publicUrl ?? `http://${host}/`, paymentPagePath(order.page_token)),
    method: order.asset,
    methods: order.status === 'pending' ? methodsOf(methods) : [],
  })
}

function methodsOf(methods: PaymentMethods): OrderMethod[] {
  return methods
    .available()
    .map(({ method: { asset, symbol, network } }) => ({ method: asset, symbol, network }))
}

export function orderRoutes({
  storage,
  goods,
  orders,
  describePaying,
}: {
  storage: Storage
  goods: AllGoods
  orders: Orders
  describePaying: DescribePaying
}): Handlers<'listOrders' | 'chooseOrderMethod'> {
  return {
    listOrders: async ({ caller, host }) => {
      const rows = await listOrders(storage.sql, caller.id, MOST_ORDERS)
      return rows.map((order) => ({
        ...ownOrderOf(order),
        ...describePaying(order, host),
        ...(goods[order.kind].isBoundLater ? { is_bound: order.bound_at !== null } : {}),
      }))
    },

    chooseOrderMethod: async ({ params, body, host }) => {
      const order = await orders.choose(params.id, body.method)
      if (!order) throw new ProtocolError('NOT_FOUND')
      const { order_id, price, expires_at } = order
      // Not the address of the payment page, which is only for those who placed the order.
      const { pay_to, method, methods } = describePaying(order, host)
      return {
        ...{ order_id, price_usdt: price, pay_to, method, methods },
        expired_at: new Date(expires_at).toISOString(),
      }
    },
  }
}

function ownOrderOf(order: Order): Omit<OwnOrder, keyof HowToPay> {
  const { order_id, kind, ref_id, status, price } = order
  return {
    ...{ order_id, kind, ref_id, status, price_usdt: price },
    created_at: new Date(order.created_at).toISOString(),
    expired_at: new Date(order.expires_at).toISOString(),
  }
}
