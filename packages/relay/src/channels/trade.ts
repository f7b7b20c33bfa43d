// Buying channels and seats: placing the order, and delivering after payment.
import { type ChannelId, ProtocolError, QUOTA_PRICE, QUOTA_REF } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { type Goods, type Order, type Orders, soldAt } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { channelHold, getChannel } from './catalog.ts'

/** For this long after a sale, a late buyer gets `CHANNEL_TAKEN`; later it is `NOT_FOUND`. */
const JUST_BOUGHT_MS = 3_600_000

/**
 * Orders a channel at the price it is listed for.
 * @throws ProtocolError `NOT_FOUND` if it does not exist or is not for sale, `OWN_CHANNEL`, `CHANNEL_TAKEN`,
 *   and what placing an order throws
 */
export function orderChannel(
  { channel, buyer }: { channel: ChannelId; buyer: AccountId },
  { orders, clock }: { orders: Orders; clock: Clock },
): Promise<Order> {
  return orders.place(buyer, async (sql) => {
    const { owner_id: seller, name, sale_price: price } = await getChannel(sql, channel, buyer)
    if (seller === buyer) throw new ProtocolError('OWN_CHANNEL')
    if (price === null) {
      const sold = await soldAt(sql, channel)
      const isJustBought = sold !== undefined && clock.now() - sold < JUST_BOUGHT_MS
      throw new ProtocolError(isJustBought ? 'CHANNEL_TAKEN' : 'NOT_FOUND')
    }
    return {
      ...{ kind: 'channel', refId: channel, seller, price },
      party: `account ${buyer}`,
      taken: 'CHANNEL_TAKEN',
      title: `the channel ${name}`,
      isFree: (sql) => lockOffer(sql, { channel, seller, price }),
    }
  })
}

// Locks the channel after the order, in the same sequence as delivery does. The channel must keep its owner
// and price until the order is stored.
async function lockOffer(
  sql: Sql,
  { channel, seller, price }: { channel: ChannelId; seller: AccountId; price: number },
): Promise<boolean> {
  const [row] = await sql<{ id: number }>`
    UPDATE channels SET sale_price = sale_price
    WHERE channel_id = ${channel} AND owner_id = ${seller} AND sale_price = ${price} RETURNING id`
  return row !== undefined
}

/** Orders a seat for one more channel. @throws ProtocolError what placing an order throws */
export function orderSeat(buyer: AccountId, { orders }: { orders: Orders }): Promise<Order> {
  return orders.place(buyer, async () => ({
    ...{ kind: 'quota', refId: QUOTA_REF, price: QUOTA_PRICE },
    party: `account ${buyer}`,
    taken: 'TOO_MANY_ORDERS',
    title: 'a seat for one more channel',
  }))
}

/**
 * Channels as goods: the buyer becomes the owner, and the channel is no longer for sale. The buyer needs no
 * free seat.
 */
export const channelGoods: Goods = {
  holdOf: channelHold,
  // Locks the channel, so that its owner cannot change the price or the listing before it is sold.
  priceNow: async (sql: Sql, { ref_id: id, seller_id: seller }: Order) => {
    const [row] = await sql<{ sale_price: number | null }>`
      UPDATE channels SET sale_price = sale_price WHERE channel_id = ${id} AND owner_id = ${seller}
      RETURNING sale_price`
    return row?.sale_price ?? undefined
  },
  // An order paid in time keeps the channel for its buyer, whatever the owner lists it for meanwhile.
  deliver: async (sql: Sql, { buyer_id: buyer, seller_id: seller, ref_id: id }: Order) => {
    if (buyer === null || seller === null) return false
    const [row] = await sql<{ id: number }>`
      UPDATE channels SET owner_id = ${buyer}, sale_price = NULL
      WHERE channel_id = ${id} AND owner_id = ${seller} RETURNING id`
    return row !== undefined
  },
  isBoundLater: false,
}

/** Seats as goods. */
export const seatGoods: Goods = {
  holdOf: () => undefined,
  priceNow: async () => QUOTA_PRICE,
  deliver: async (sql: Sql, { buyer_id: buyer }: Order) => {
    if (buyer === null) return false
    await sql`
      INSERT INTO channel_seats (account_id, bought) VALUES (${buyer}, 1)
      ON CONFLICT (account_id) DO UPDATE SET bought = channel_seats.bought + 1`
    return true
  },
  isBoundLater: false,
}
