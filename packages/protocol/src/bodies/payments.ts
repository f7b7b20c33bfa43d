// Bodies and replies of purchases: custom ids, channels, seats, and their orders.
import * as v from 'valibot'
import { AliasId, OrderId, ReceivedName, Timestamp } from '../ids.ts'
import { Price, RefId } from './goods.ts'

/** The state of an order. */
export const OrderState = v.picklist(['pending', 'confirmed', 'expired'])
/** See {@link OrderState}. */
export type OrderState = v.InferOutput<typeof OrderState>

/**
 * What an order buys: an id for an account, an id without an account, a channel, a seat for another channel.
 */
export const OrderKind = v.picklist(['vanity', 'reserve', 'channel', 'quota'])
/** See {@link OrderKind}. */
export type OrderKind = v.InferOutput<typeof OrderKind>

/** The id of a way to pay: `evm:1/0xdac1…`. Clients compare it, and do not read it. */
const MethodId = v.pipe(
  v.string('must be a text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'must be at most 200 characters'),
)

/** A way to pay for an order. One whole unit of every token pays one unit of the price. */
export const OrderMethod = v.object({
  /** Its id, for the choice. */
  method: MethodId,
  /** The token: `USDT`. */
  symbol: ReceivedName,
  /** The chain or the processor: `Ethereum`; empty if the operator confirms payments by hand. */
  network: ReceivedName,
})
/** See {@link OrderMethod}. */
export type OrderMethod = v.InferOutput<typeof OrderMethod>

/** The most ways to pay for an order. */
const MOST_METHODS = 200
/** An address to pay to, or that of a page. */
const Where = v.pipe(v.string(), v.maxLength(8192))

const payment = {
  /** The way to pay that `pay_to` belongs to. Older relays do not send it. */
  method: v.exactOptional(MethodId),
  /** The ways to pay that can be chosen now, none after the order ended. Older relays do not send it. */
  methods: v.exactOptional(v.pipe(v.array(OrderMethod), v.maxLength(MOST_METHODS))),
}

/** The order of a channel or a seat. */
export const ChannelTradeOrder = v.object({
  order_id: OrderId,
  price_usdt: Price,
  /** Where to pay: an address on the relay's chain, or a text by the operator. */
  pay_to: Where,
  /** The payment page. */
  payment_url: v.exactOptional(Where),
  ...payment,
  expired_at: Timestamp,
})
/** See {@link ChannelTradeOrder}. */
export type ChannelTradeOrder = v.InferOutput<typeof ChannelTradeOrder>

/** An account's order of an id for itself. */
export const PurchaseOrder = v.object({
  order_id: OrderId,
  alias_id: AliasId,
  price_usdt: Price,
  /** The payment page. */
  payment_url: Where,
  /** Deprecated: the payment page shows this. */
  pay_to: v.exactOptional(Where),
  ...payment,
  expired_at: Timestamp,
})
/** See {@link PurchaseOrder}. */
export type PurchaseOrder = v.InferOutput<typeof PurchaseOrder>

/**
 * An order of an id without an account. Once it is paid, the first account that binds it gets the id.
 * Deprecated.
 */
export const ReserveOrder = v.object({
  order_id: OrderId,
  alias_id: AliasId,
  /** The same as `price_usdt`, by the name that published clients read. Older relays do not send it. */
  price: v.exactOptional(Price),
  price_usdt: Price,
  pay_to: Where,
  /** The payment page. */
  payment_url: v.exactOptional(Where),
  ...payment,
  expired_at: Timestamp,
})
/** See {@link ReserveOrder}. */
export type ReserveOrder = v.InferOutput<typeof ReserveOrder>

/** The status of an order. `alias_id` is empty if the order is not for an id. */
export const OrderStatus = v.object({ status: OrderState, alias_id: v.union([AliasId, v.literal('')]) })
/** See {@link OrderStatus}. */
export type OrderStatus = v.InferOutput<typeof OrderStatus>

/** One order in the list of the account's orders. */
export const OwnOrder = v.object({
  order_id: OrderId,
  kind: OrderKind,
  /** The id, the channel's id, or `channel_quota`. */
  ref_id: RefId,
  status: OrderState,
  price_usdt: Price,
  pay_to: Where,
  payment_url: Where,
  ...payment,
  created_at: Timestamp,
  expired_at: Timestamp,
  /** Whether the id was bound. Only present for orders of ids. */
  is_bound: v.exactOptional(v.boolean()),
})
/** See {@link OwnOrder}. */
export type OwnOrder = v.InferOutput<typeof OwnOrder>

/** How to pay for an order, after the way was chosen. */
export const OrderPayment = v.object({
  order_id: OrderId,
  price_usdt: Price,
  /** Where to pay by this way. The payment page shows it too. */
  pay_to: Where,
  /** The way that was chosen. */
  method: MethodId,
  /** The ways that can be chosen now. */
  methods: v.pipe(v.array(OrderMethod), v.maxLength(MOST_METHODS)),
  expired_at: Timestamp,
})
/** See {@link OrderPayment}. */
export type OrderPayment = v.InferOutput<typeof OrderPayment>

export const MethodBody = v.object({ method: MethodId })
export const OwnOrderList = v.array(OwnOrder)
export const AliasBody = v.object({ alias_id: AliasId })
export const BindBody = v.object({ order_id: OrderId })
export const BindReply = v.object({ alias_id: AliasId })
export const OrderPath = v.object({ id: OrderId })
