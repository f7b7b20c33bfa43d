// Erases the channels and subscriptions of a deleted account.
import type { ChannelId } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { inSlices, moreAfter, ROWS_PER_SLICE, type Sliced } from '../operations/slices.ts'
import { endHold } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { channelHold, eraseChannel } from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'

/** Ends the sale of an account's channels and the orders for them, together with the account. */
export async function endChannelSales(sql: Sql, account: AccountId, parts: { clock: Clock }): Promise<void> {
  const own = await sql<{ id: ChannelNumber; channel_id: ChannelId }>`
    SELECT id, channel_id FROM channels WHERE owner_id = ${account} ORDER BY id`
  for (const { channel_id } of own) await endHold(sql, channelHold(channel_id), parts)
  for (const { id } of own) await sql`UPDATE channels SET sale_price = NULL WHERE id = ${id}`
}

/** Erases the channels and subscriptions of a deleted account. */
export async function eraseChannels(account: AccountId, sliced: Sliced): Promise<void> {
  await inSlices(sliced, 'more', (sql) => endSubscriptions(sql, account))
  // One channel after the other. Its row goes last, so that the next process finds what is left of it.
  await inSlices(sliced, 'more', async (sql) => {
    const [channel] = await sql<{ id: ChannelNumber }>`
      SELECT id FROM channels WHERE owner_id = ${account} ORDER BY id LIMIT 1`
    if (!channel) return undefined
    const posts = await sql<{ id: number }>`
      DELETE FROM channel_posts WHERE id IN (
        SELECT id FROM channel_posts WHERE channel = ${channel.id} ORDER BY id LIMIT ${ROWS_PER_SLICE}) RETURNING id`
    if (moreAfter(posts)) return 'more'
    const subscriptions = await sql<{ account_id: AccountId }>`
      DELETE FROM channel_subscriptions WHERE channel = ${channel.id} AND account_id IN (
        SELECT account_id FROM channel_subscriptions WHERE channel = ${channel.id} LIMIT ${ROWS_PER_SLICE})
      RETURNING account_id`
    if (moreAfter(subscriptions)) return 'more'
    // Locked, so that nothing is added to it while it is being deleted.
    await sql`UPDATE channels SET name = name WHERE id = ${channel.id}`
    await eraseChannel(sql, channel.id)
    return 'more'
  })
  await sliced.storage.transaction((sql) => sql`DELETE FROM channel_seats WHERE account_id = ${account}`)
}

// Locks the channels in one order. So accounts that are subscribed to each other's channels can be deleted at
// the same time.
async function endSubscriptions(sql: Sql, account: AccountId): Promise<'more' | undefined> {
  const subscribed = await sql<{ channel: ChannelNumber }>`
    SELECT channel FROM channel_subscriptions WHERE account_id = ${account} ORDER BY channel LIMIT ${ROWS_PER_SLICE}`
  for (const { channel } of subscribed) {
    await sql`UPDATE channels SET name = name WHERE id = ${channel}`
    const ended = await sql<{ channel: ChannelNumber }>`
      DELETE FROM channel_subscriptions WHERE account_id = ${account} AND channel = ${channel} RETURNING channel`
    if (ended.length > 0)
      await sql`UPDATE channels SET subscriber_count = subscriber_count - 1 WHERE id = ${channel}`
  }
  return moreAfter(subscribed)
}
