// Buying channels and seats: what is ordered, and how it is handed over once it is paid.
import { type ChannelId, ProtocolError, QUOTA_PRICE, QUOTA_REF } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { type Goods, type Order, type Orders, soldAt } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { getChannel, holdOf } from './catalog.ts'

/** How long whoever comes too late is told that somebody was faster, rather than that nothing is for sale. */
const JUST_BOUGHT_MS = 3_600_000

/**
 * Orders a channel at the price it is listed for.
 * @throws ProtocolError `NOT_FOUND` where there is none or it is not for sale, `OWN_CHANNEL`, `CHANNEL_TAKEN`, and what
 *   placing an order may throw
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
      holds: holdOf(channel),
      party: `account ${buyer}`,
      taken: 'CHANNEL_TAKEN',
      title: `the channel ${name}`,
      isFree: (sql) => lockOffer(sql, { channel, seller, price }),
    }
  })
}

// The channel after the order, as where it is handed over; it must not change hands before the order is there.
async function lockOffer(
  sql: Sql,
  { channel, seller, price }: { channel: ChannelId; seller: AccountId; price: number },
): Promise<boolean> {
  const [row] = await sql<{ id: number }>`
    UPDATE channels SET sale_price = sale_price
    WHERE channel_id = ${channel} AND owner_id = ${seller} AND sale_price = ${price} RETURNING id`
  return row !== undefined
}

/** Orders a seat for one more channel. @throws ProtocolError what placing an order may throw */
export function orderSeat(buyer: AccountId, { orders }: { orders: Orders }): Promise<Order> {
  return orders.place(buyer, async () => ({
    ...{ kind: 'quota', refId: QUOTA_REF, price: QUOTA_PRICE },
    party: `account ${buyer}`,
    taken: 'TOO_MANY_ORDERS',
    title: 'a seat for one more channel',
  }))
}

/** Channels as something that is sold: the buyer owns it, and it is for sale no more. Paid is paid: no seat is asked for. */
export const channelGoods: Goods = {
  deliver: async (sql: Sql, order: Order) => {
    const { buyer_id: buyer, seller_id: seller, ref_id: id, status, price } = order
    if (buyer === null || seller === null) return false
    // For an order that waits it is the buyer's, whatever its owner lists it for meanwhile. Later it is free as long as it is on
    // offer for the price of the order.
    const [row] =
      status === 'pending'
        ? await sql<{ id: number }>`
            UPDATE channels SET owner_id = ${buyer}, sale_price = NULL
            WHERE channel_id = ${id} AND owner_id = ${seller} RETURNING id`
        : await sql<{ id: number }>`
            UPDATE channels SET owner_id = ${buyer}, sale_price = NULL
            WHERE channel_id = ${id} AND owner_id = ${seller} AND sale_price = ${price} RETURNING id`
    return row !== undefined
  },
  isKept: false,
}

/** Seats as something that is sold. */
export const seatGoods: Goods = {
  deliver: async (sql: Sql, { buyer_id: buyer }: Order) => {
    if (buyer === null) return false
    await sql`
      INSERT INTO channel_seats (account_id, bought) VALUES (${buyer}, 1)
      ON CONFLICT (account_id) DO UPDATE SET bought = channel_seats.bought + 1`
    return true
  },
  isKept: false,
}
