// What the operator does to a channel of anybody.
import type { ChannelId, PostId } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { endHold } from '../payments/payments.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { channelHold, deleteChannel } from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'
import { deletePost } from './posts.ts'
import { indexWords, removeWords } from './word-index.ts'

/** Removes a post. @throws ProtocolError `NOT_FOUND` */
export async function removePostOf(
  sql: Sql,
  channel: { id: ChannelId; owner: AccountId },
  post: PostId,
): Promise<void> {
  await deletePost(sql, { id: channel.id, post, caller: channel.owner })
}

/** Deletes a channel. @returns its number, for its purge @throws ProtocolError `NOT_FOUND` */
export function deleteChannelOf(
  sql: Sql,
  channel: { id: ChannelId; owner: AccountId },
  parts: { clock: Clock },
): Promise<ChannelNumber> {
  return deleteChannel(sql, { id: channel.id, caller: channel.owner }, parts)
}

/**
 * Closes a channel, or opens it again if there is no reason. A closed channel takes no posts, cannot be
 * changed or sold, and no search finds it.
 */
export async function setClosed(
  sql: Sql,
  { id, reason }: { id: ChannelId; reason: string | null },
  parts: { clock: Clock },
): Promise<void> {
  if (reason !== null) await endHold(sql, channelHold(id), parts, 'the operator closed the channel')
  const [row] = await sql<{ id: ChannelNumber; name: string; description: string; is_public: number }>`
    UPDATE channels SET closed_for = ${reason}, sale_price = NULL WHERE channel_id = ${id}
    RETURNING id, name, description, is_public`
  if (!row) return
  if (reason !== null) await removeWords(sql, row.id)
  else
    await indexWords(sql, row.id, {
      name: row.name,
      description: row.description,
      isPublic: row.is_public === 1,
    })
}
