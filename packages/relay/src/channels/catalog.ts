// Channels as rows: creates them on an account's seats, edits, deletes and offers them for sale, and says
// what an account sees of a channel.
import { type ChannelId, type ChannelInfo, type Limits, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { endHold } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import type { ChannelNumber, ChannelRow } from './channel-row.ts'
import { indexWords, removeWords } from './word-index.ts'

/** The fields of a channel that its owner sets. */
export interface ChannelDetails {
  readonly name: string
  readonly description: string
  readonly isPublic: boolean
}

/** Creates a channel. @throws ProtocolError `QUOTA_EXCEEDED` if the account has no seat left */
export async function createChannel(
  sql: Sql,
  owner: AccountId,
  details: ChannelDetails,
  parts: { clock: Clock; randomBytes: RandomBytes; limits: Limits },
): Promise<ChannelId> {
  // Two requests at the same time must not both use the last seat.
  if (!(await lockAccounts(sql, [owner]))) throw new ProtocolError('TOKEN_DEAD')
  const [owned] = await sql<{
    count: number
  }>`SELECT COUNT(*) AS count FROM channels WHERE owner_id = ${owner}`
  const [seats] = await sql<{ bought: number }>`SELECT bought FROM channel_seats WHERE account_id = ${owner}`
  if ((owned?.count ?? 0) >= parts.limits.channelSeats + (seats?.bought ?? 0)) {
    throw new ProtocolError('QUOTA_EXCEEDED')
  }
  const unguessable = `ch_${randomText(parts.randomBytes, 16)}`
  const [added] = await sql<{ id: ChannelNumber; channel_id: ChannelId }>`
    INSERT INTO channels (channel_id, owner_id, name, description, is_public, created_at, subscriber_count)
    VALUES (${unguessable}, ${owner}, ${details.name}, ${details.description}, ${details.isPublic ? 1 : 0},
      ${parts.clock.now()}, 0)
    RETURNING id, channel_id`
  if (!added) throw new Error('the channel was not created')
  await indexWords(sql, added.id, details)
  return added.channel_id
}

/** Changes a channel. @throws ProtocolError `NOT_FOUND`, `NOT_CHANNEL_OWNER`, `CHANNEL_CLOSED` */
export async function editChannel(
  sql: Sql,
  channel: { id: ChannelId; caller: AccountId },
  change: Partial<ChannelDetails>,
): Promise<void> {
  const row = await lockOpenChannel(sql, channel)
  const details = {
    name: change.name ?? row.name,
    description: change.description ?? row.description,
    isPublic: change.isPublic ?? row.is_public === 1,
  }
  await sql`
    UPDATE channels SET name = ${details.name}, description = ${details.description},
      is_public = ${details.isPublic ? 1 : 0}
    WHERE id = ${row.id}`
  await indexWords(sql, row.id, details)
}

/**
 * Deletes a channel: it is gone for everybody, and its seat is free. Its posts and subscriptions are for
 * `purgeChannel`. @returns its number @throws ProtocolError `NOT_FOUND`, `NOT_CHANNEL_OWNER`
 */
export async function deleteChannel(
  sql: Sql,
  channel: { id: ChannelId; caller: AccountId },
  parts: { clock: Clock },
): Promise<ChannelNumber> {
  await endHold(sql, channelHold(channel.id), parts)
  const { id } = await lockOwnChannel(sql, channel)
  await markDeleted(sql, id)
  return id
}

/**
 * Sets the price at which a channel can be bought, or removes it. @throws ProtocolError `NOT_FOUND`,
 * `NOT_CHANNEL_OWNER`, and `CHANNEL_CLOSED` for a price
 */
export async function setSalePrice(
  sql: Sql,
  channel: { id: ChannelId; caller: AccountId },
  price: number | null,
): Promise<void> {
  const { id } = await (price === null ? lockOwnChannel : lockOpenChannel)(sql, channel)
  await sql`UPDATE channels SET sale_price = ${price} WHERE id = ${id}`
}

/**
 * Locks a channel, so that nobody else can change or delete it before the transaction ends. @throws
 * ProtocolError `NOT_FOUND`
 */
export async function lockChannel(sql: Sql, id: ChannelId): Promise<ChannelNumber> {
  const [row] = await sql<{ id: ChannelNumber }>`
    UPDATE channels SET name = name WHERE channel_id = ${id} RETURNING id`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return row.id
}

/** The channel with this id, as `viewer` sees it. @throws ProtocolError `NOT_FOUND` */
export async function getChannel(sql: Sql, id: ChannelId, viewer: AccountId): Promise<ChannelRow> {
  const [row] = await sql<ChannelRow>`
    SELECT channels.id, channel_id, owner_id, name, description, is_public, sale_price, closed_for,
      CASE WHEN subscriptions.account_id IS NULL THEN 0 ELSE 1 END AS is_subscribed
    FROM channels LEFT JOIN channel_subscriptions AS subscriptions
      ON subscriptions.account_id = ${viewer} AND subscriptions.channel = channels.id
    WHERE channel_id = ${id}`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return row
}

/** The channels that an account owns, then those it is subscribed to, each in the order of creation. */
export async function listChannels(sql: Sql, account: AccountId): Promise<ChannelRow[]> {
  return await sql<ChannelRow>`
    SELECT channels.id, channel_id, owner_id, name, description, is_public, sale_price, closed_for,
      CASE WHEN subscriptions.account_id IS NULL THEN 0 ELSE 1 END AS is_subscribed
    FROM channels LEFT JOIN channel_subscriptions AS subscriptions
      ON subscriptions.account_id = ${account} AND subscriptions.channel = channels.id
    WHERE owner_id = ${account} OR channels.id IN
      (SELECT channel FROM channel_subscriptions WHERE account_id = ${account})
    ORDER BY CASE WHEN owner_id = ${account} THEN 0 ELSE 1 END, channels.id`
}

/** The channel as the API shows it to `viewer`. */
export function channelInfoOf(row: ChannelRow, viewer: AccountId): ChannelInfo {
  const { channel_id: id, name, description, sale_price } = row
  const isSubscribed = row.is_subscribed === 1
  const role = row.owner_id === viewer ? 'owner' : isSubscribed ? 'subscriber' : undefined
  return {
    ...{ id, name, description },
    ...(role === undefined ? {} : { role }),
    is_subscribed: isSubscribed,
    for_sale: sale_price !== null,
    ...(sale_price === null ? {} : { sale_price }),
  }
}

/** The key that an order of a channel holds. */
export function channelHold(channel: string): string {
  return `channel:${channel}`
}

/**
 * The row of the caller's channel, locked so that nobody else can change or delete it. @throws ProtocolError
 * `NOT_FOUND`, `NOT_CHANNEL_OWNER`
 */
export async function lockOwnChannel(
  sql: Sql,
  { id, caller }: { id: ChannelId; caller: AccountId },
): Promise<Omit<ChannelRow, 'is_subscribed'>> {
  const [row] = await sql<Omit<ChannelRow, 'is_subscribed'>>`
    UPDATE channels SET name = name WHERE channel_id = ${id}
    RETURNING id, channel_id, owner_id, name, description, is_public, sale_price, closed_for`
  if (!row) throw new ProtocolError('NOT_FOUND')
  if (row.owner_id !== caller) throw new ProtocolError('NOT_CHANNEL_OWNER')
  return row
}

/**
 * The same, if the operator has not closed the channel. @throws ProtocolError `NOT_FOUND`,
 * `NOT_CHANNEL_OWNER`, `CHANNEL_CLOSED`
 */
export async function lockOpenChannel(
  sql: Sql,
  target: { id: ChannelId; caller: AccountId },
): Promise<Omit<ChannelRow, 'is_subscribed'>> {
  const row = await lockOwnChannel(sql, target)
  if (row.closed_for !== null) throw new ProtocolError('CHANNEL_CLOSED', { words: row.closed_for })
  return row
}

/**
 * Deletes a channel's row, so that nobody finds it or adds to it, and says that what it left is to be purged.
 */
export async function markDeleted(sql: Sql, channel: ChannelNumber): Promise<void> {
  await sql`
    INSERT INTO channel_purges (channel, owner_id) SELECT id, owner_id FROM channels WHERE id = ${channel}`
  await sql`DELETE FROM channels WHERE id = ${channel}`
  await removeWords(sql, channel)
}
