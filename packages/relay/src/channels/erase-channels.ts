// Erases what deleted channels left, and the channels and subscriptions of a deleted account.
import type { ChannelId } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { Purges } from '../operations/purges.ts'
import { inSlices, moreAfter, ROWS_PER_SLICE, type Sliced } from '../operations/slices.ts'
import { endHold } from '../payments/payments.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { channelHold, markDeleted } from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'

/** The purges of deleted channels. */
export function channelPurges({ storage, log }: { storage: Storage; log: Log }): Purges<ChannelNumber> {
  const find = async (most: number): Promise<ChannelNumber[]> => {
    const waiting = await storage.sql<{ channel: ChannelNumber }>`
      SELECT channel FROM channel_purges ORDER BY channel LIMIT ${most}`
    return waiting.map(({ channel }) => channel)
  }
  const erase = (channel: ChannelNumber, signal: AbortSignal): Promise<void> =>
    inSlices({ storage, signal }, 'more', (sql) => purgeSome(sql, channel))
  return new Purges({ find, erase }, log)
}

/** Deletes an account's channels, and ends the orders for them, together with the account. */
export async function endChannels(sql: Sql, account: AccountId, parts: { clock: Clock }): Promise<void> {
  const own = await sql<{ id: ChannelNumber; channel_id: ChannelId }>`
    SELECT id, channel_id FROM channels WHERE owner_id = ${account} ORDER BY id`
  for (const { channel_id } of own) await endHold(sql, channelHold(channel_id), parts)
  for (const { id } of own) {
    await sql`UPDATE channels SET name = name WHERE id = ${id}`
    await markDeleted(sql, id)
  }
}

/** Erases what a deleted account's channels left, and its subscriptions. */
export async function eraseChannels(account: AccountId, sliced: Sliced): Promise<void> {
  await inSlices(sliced, 'more', (sql) => endSubscriptions(sql, account))
  // Of an account that an older version of the relay deleted, but did not purge.
  await inSlices(sliced, 'more', async (sql) => {
    const [channel] = await sql<{ id: ChannelNumber }>`
      UPDATE channels SET name = name WHERE id = (SELECT MIN(id) FROM channels WHERE owner_id = ${account})
      RETURNING id`
    if (channel) await markDeleted(sql, channel.id)
    return channel && 'more'
  })
  await inSlices(sliced, 'more', async (sql) => {
    const [channel] = await sql<{ channel: ChannelNumber }>`
      SELECT channel FROM channel_purges WHERE owner_id = ${account} ORDER BY channel LIMIT 1`
    if (channel) await purgeSome(sql, channel.channel)
    return channel && 'more'
  })
  await sliced.storage.transaction((sql) => sql`DELETE FROM channel_seats WHERE account_id = ${account}`)
}

// Its row in the list of purges goes last, so that the next process finds what is left of the channel.
async function purgeSome(sql: Sql, channel: ChannelNumber): Promise<'more' | undefined> {
  // Locked, so that of two purges each sees what the other has erased.
  const [purge] = await sql<{ channel: ChannelNumber }>`
    UPDATE channel_purges SET owner_id = owner_id WHERE channel = ${channel} RETURNING channel`
  if (!purge) return undefined
  const posts = await sql<{ id: number }>`
    DELETE FROM channel_posts WHERE id IN (
      SELECT id FROM channel_posts WHERE channel = ${channel} ORDER BY id LIMIT ${ROWS_PER_SLICE}) RETURNING id`
  if (moreAfter(posts)) return 'more'
  const subscriptions = await sql<{ account_id: AccountId }>`
    DELETE FROM channel_subscriptions WHERE channel = ${channel} AND account_id IN (
      SELECT account_id FROM channel_subscriptions WHERE channel = ${channel} LIMIT ${ROWS_PER_SLICE})
    RETURNING account_id`
  if (moreAfter(subscriptions)) return 'more'
  await sql`DELETE FROM channel_purges WHERE channel = ${channel}`
  return undefined
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
