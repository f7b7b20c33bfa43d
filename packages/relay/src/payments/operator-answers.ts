// What an operator is told of orders: lines of plain JSON, held to these forms on both sides of the door.
import { OrderId, OrderKind, OrderState } from '@sotto/protocol'
import * as v from 'valibot'

const Time = v.string()

/** An order as lists show it. */
export const OrderLine = v.object({
  order_id: OrderId,
  kind: OrderKind,
  /** The id, the channel's id, or `channel_quota`. */
  ref_id: v.string(),
  status: OrderState,
  /** Whole stablecoin units. */
  price_usdt: v.number(),
  /** Its buyer's id; null for an id that is reserved for whoever binds it. */
  buyer: v.nullable(v.string()),
  pay_to: v.string(),
  provider: v.string(),
  created_at: Time,
  expires_at: Time,
  confirmed_at: v.nullable(Time),
  /** How many payments of it are to be given back and are not yet. */
  refunds_due: v.number(),
})
/** See {@link OrderLine}. */
export type OrderLine = v.InferOutput<typeof OrderLine>

/** A payment and what became of it. */
export const PaymentLine = v.object({
  reference: v.string(),
  asset: v.string(),
  /** In the asset's smallest unit, as is what is to be given back. */
  amount: v.string(),
  at: Time,
  state: v.picklist(['seen', 'final', 'gone']),
  outcome: v.nullable(v.picklist(['counted', 'refund'])),
  refund_amount: v.nullable(v.string()),
  reason: v.nullable(v.string()),
  refunded_at: v.nullable(Time),
  refund_reference: v.nullable(v.string()),
})
/** See {@link PaymentLine}. */
export type PaymentLine = v.InferOutput<typeof PaymentLine>

/** What the seller of a channel is owed, or was paid. */
export const PayoutLine = v.object({
  order_id: OrderId,
  channel_id: v.string(),
  seller: v.string(),
  price_usdt: v.number(),
  due_at: Time,
  paid_at: v.nullable(Time),
  paid_reference: v.nullable(v.string()),
})
/** See {@link PayoutLine}. */
export type PayoutLine = v.InferOutput<typeof PayoutLine>

/** All there is to know of one order. */
export const OrderDetail = v.object({
  order: OrderLine,
  asset: v.string(),
  /** In the asset's smallest unit. */
  amount: v.string(),
  /** What its address was made from, where it has one of its own. */
  deposit_index: v.number(),
  is_bound: v.boolean(),
  payments: v.array(PaymentLine),
  payout: v.nullable(PayoutLine),
  events: v.array(v.object({ at: Time, who: v.string(), what: v.string(), why: v.string() })),
})
/** See {@link OrderDetail}. */
export type OrderDetail = v.InferOutput<typeof OrderDetail>

/** What each command answers. */
export const orderAnswers = {
  'orders.list': v.array(OrderLine),
  'orders.show': OrderDetail,
  'orders.confirm': OrderLine,
  'orders.refund-recorded': PaymentLine,
  'payouts.due': v.array(PayoutLine),
  'payouts.paid': PayoutLine,
} as const
/** The commands, by name. */
export type OrderCommandName = keyof typeof orderAnswers
/** What a command answers. */
export type OrderAnswer<Name extends OrderCommandName> = v.InferOutput<(typeof orderAnswers)[Name]>
