// What is for sale and its price. A file of its own: frames and channels name them, and a client then needs
// no other body of payments.
import * as v from 'valibot'
import { AliasId, ChannelId } from '../ids.ts'

/** A price in whole stablecoin units. */
export const Price = v.pipe(
  v.number('must be an integer from 1'),
  v.safeInteger('must be an integer from 1'),
  v.minValue(1, 'must be an integer from 1'),
  v.maxValue(1_000_000_000, 'must be at most 1,000,000,000'),
)

/** The `ref_id` of an order for a seat. */
export const QUOTA_REF = 'channel_quota'
/** The price of a seat, in whole stablecoin units. */
export const QUOTA_PRICE = 5

/** What an order is for: an id, a channel's id, or `channel_quota`. */
export const RefId = v.union([AliasId, ChannelId, v.literal(QUOTA_REF)])
/** See {@link RefId}. */
export type RefId = v.InferOutput<typeof RefId>
