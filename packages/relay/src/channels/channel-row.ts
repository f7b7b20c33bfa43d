// The row of a channel.
import type { ChannelId } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'

declare const channelNumber: unique symbol
/** The database's number of a channel. It never leaves the relay and is never reused. */
export type ChannelNumber = number & { readonly [channelNumber]: true }

/** A channel's row, with whether the viewing account is subscribed. */
export interface ChannelRow {
  readonly id: ChannelNumber
  readonly channel_id: ChannelId
  readonly owner_id: AccountId
  readonly name: string
  readonly description: string
  readonly is_public: number
  readonly sale_price: number | null
  /** Why the operator closed it; null if it is open. */
  readonly closed_for: string | null
  readonly is_subscribed: number
}
