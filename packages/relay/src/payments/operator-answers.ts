// The answers to an operator's commands about orders: plain JSON, checked against these schemas on both sides
// of the operator's socket.
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
  /** The buyer's id; null for an id that is reserved for the first account that binds it. */
  buyer: v.nullable(v.string()),
  pay_to: v.string(),
  provider: v.string(),
  created_at: Time,
  expires_at: Time,
  confirmed_at: v.nullable(Time),
  /** How many of its payments are due to be refunded and are not refunded yet. */
  refunds_due: v.number(),
  /** How many of its payments a reorganisation removed for good after they were judged. */
  lost_payments: v.number(),
  /** The number of its row, by which the log names it. */
  number: v.number(),
})
/** See {@link OrderLine}. */
export type OrderLine = v.InferOutput<typeof OrderLine>

/** A payment and how it was judged. */
export const PaymentLine = v.object({
  reference: v.string(),
  asset: v.string(),
  /** In the asset's smallest unit, like `refund_amount`. */
  amount: v.string(),
  at: Time,
  state: v.picklist(['seen', 'final', 'gone']),
  outcome: v.nullable(v.picklist(['counted', 'refund'])),
  refund_amount: v.nullable(v.string()),
  reason: v.nullable(v.string()),
  refunded_at: v.nullable(Time),
  refund_reference: v.nullable(v.string()),
  /** Whether a reorganisation removed it after it was judged, and whether the operator has settled that. */
  lost: v.nullable(v.picklist(['missing', 'lost', 'settled'])),
})
/** See {@link PaymentLine}. */
export type PaymentLine = v.InferOutput<typeof PaymentLine>

/** A payout: what the seller of a channel is owed or was paid. */
export const PayoutLine = v.object({
  order_id: OrderId,
  channel_id: v.string(),
  seller: v.string(),
  price_usdt: v.number(),
  due_at: Time,
  paid_at: v.nullable(Time),
  paid_reference: v.nullable(v.string()),
  /** Whether it must not be paid now, because the buyer's payment is missing or lost. */
  is_held: v.boolean(),
})
/** See {@link PayoutLine}. */
export type PayoutLine = v.InferOutput<typeof PayoutLine>

/** All details of one order. */
export const OrderDetail = v.object({
  order: OrderLine,
  asset: v.string(),
  /** In the asset's smallest unit. */
  amount: v.string(),
  /** The places that were opened for it, of which the buyer may pay at any. */
  destinations: v.array(
    v.object({
      asset: v.string(),
      provider: v.string(),
      pay_to: v.string(),
      /** In the asset's smallest unit. */
      amount: v.string(),
    }),
  ),
  /** The index that its deposit address was derived from, if the provider derives addresses. */
  deposit_index: v.number(),
  is_bound: v.boolean(),
  payments: v.array(PaymentLine),
  payout: v.nullable(PayoutLine),
  events: v.array(v.object({ at: Time, who: v.string(), what: v.string(), why: v.string() })),
})
/** See {@link OrderDetail}. */
export type OrderDetail = v.InferOutput<typeof OrderDetail>

/** The schema of each command's answer. */
export const orderAnswers = {
  'orders.list': v.array(OrderLine),
  'orders.show': OrderDetail,
  'orders.confirm': OrderLine,
  'orders.refund-recorded': PaymentLine,
  'orders.settle-lost': OrderLine,
  'payouts.due': v.array(PayoutLine),
  'payouts.paid': PayoutLine,
} as const
/** The names of the commands. */
export type OrderCommandName = keyof typeof orderAnswers
/** The answer to a command. */
export type OrderAnswer<Name extends OrderCommandName> = v.InferOutput<(typeof orderAnswers)[Name]>
