// Bodies and replies of everything that is bought: custom ids, channels, seats, and the orders for them.
import * as v from 'valibot'
import { AliasId, ChannelId, OrderId, Timestamp } from '../ids.ts'

/** A price in whole stablecoin units. */
export const Price = v.pipe(
  v.number('must be an integer from 1'),
  v.safeInteger('must be an integer from 1'),
  v.minValue(1, 'must be an integer from 1'),
  v.maxValue(1_000_000_000, 'must be at most 1,000,000,000'),
)

/** How far an order is. */
export const OrderState = v.picklist(['pending', 'confirmed', 'expired'])
/** See {@link OrderState}. */
export type OrderState = v.InferOutput<typeof OrderState>

/** What an order buys: an id for an account, an id for whoever binds it, a channel, a seat for another channel. */
export const OrderKind = v.picklist(['vanity', 'reserve', 'channel', 'quota'])
/** See {@link OrderKind}. */
export type OrderKind = v.InferOutput<typeof OrderKind>

/** What stands for a seat where other orders name an id or a channel. */
export const QUOTA_REF = 'channel_quota'
/** What one more seat costs, in whole stablecoin units. */
export const QUOTA_PRICE = 5

/** What an order is for: an id, a channel's id, or `channel_quota`. */
export const RefId = v.union([AliasId, ChannelId, v.literal(QUOTA_REF)])
/** See {@link RefId}. */
export type RefId = v.InferOutput<typeof RefId>

/** The order of a channel or a seat. */
export const ChannelTradeOrder = v.object({
  order_id: OrderId,
  price_usdt: Price,
  /** Where to pay: an address of the chain the relay is paid on, or what its operator wrote there. */
  pay_to: v.string(),
  /** The page to pay on. */
  payment_url: v.exactOptional(v.string()),
  expired_at: Timestamp,
})
/** See {@link ChannelTradeOrder}. */
export type ChannelTradeOrder = v.InferOutput<typeof ChannelTradeOrder>

/** The order of an id, by the account that is to go by it. */
export const PurchaseOrder = v.object({
  order_id: OrderId,
  alias_id: AliasId,
  price_usdt: Price,
  /** The page to pay on. */
  payment_url: v.string(),
  /** Deprecated: what the page shows. */
  pay_to: v.exactOptional(v.string()),
  expired_at: Timestamp,
})
/** See {@link PurchaseOrder}. */
export type PurchaseOrder = v.InferOutput<typeof PurchaseOrder>

/** The order of an id by nobody yet: whoever presents it once it is paid has the id. Deprecated. */
export const ReserveOrder = v.object({
  order_id: OrderId,
  alias_id: AliasId,
  price_usdt: Price,
  pay_to: v.string(),
  expired_at: Timestamp,
})
/** See {@link ReserveOrder}. */
export type ReserveOrder = v.InferOutput<typeof ReserveOrder>

/** How far an order is; `alias_id` is empty where it is for no id. */
export const OrderStatus = v.object({ status: OrderState, alias_id: v.union([AliasId, v.literal('')]) })
/** See {@link OrderStatus}. */
export type OrderStatus = v.InferOutput<typeof OrderStatus>

/** One of one's own orders, as its list shows it. */
export const OwnOrder = v.object({
  order_id: OrderId,
  kind: OrderKind,
  /** The id, the channel's id, or `channel_quota`. */
  ref_id: RefId,
  status: OrderState,
  price_usdt: Price,
  pay_to: v.string(),
  payment_url: v.string(),
  created_at: Timestamp,
  expired_at: Timestamp,
  /** There for orders of ids: whether the id has been bound. */
  is_bound: v.exactOptional(v.boolean()),
})
/** See {@link OwnOrder}. */
export type OwnOrder = v.InferOutput<typeof OwnOrder>

export const OwnOrderList = v.array(OwnOrder)
export const AliasBody = v.object({ alias_id: AliasId })
export const BindBody = v.object({ order_id: OrderId })
export const BindReply = v.object({ alias_id: AliasId })
export const OrderPath = v.object({ id: OrderId })
