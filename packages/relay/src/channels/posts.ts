// Posts of a channel: stored in the order they were made, read in batches, and sent to connected subscribers.
import {
  type ChannelId,
  type ChannelPost,
  encodeFrame,
  type Limits,
  type PostId,
  ProtocolError,
} from '@sotto/protocol'
import { findAccount, lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { lockOpenChannel, lockOwnChannel } from './catalog.ts'
import type { ChannelNumber } from './channel-row.ts'

/**
 * Limits the content of one batch: the post that exceeds it is the last. Only the end of the channel gives an
 * empty batch.
 */
const MOST_BATCH_CHARACTERS = 524_288

/** A new post, and the channel whose subscribers receive it. */
export interface Posted {
  readonly channel: ChannelNumber
  readonly post: ChannelPost
}

interface PostRow {
  post_id: PostId
  type: string
  content: string
  created_at: number
  alias_id: ChannelPost['author_alias_id']
}

/**
 * Adds a post to the caller's own channel. @throws ProtocolError `NOT_FOUND`, `NOT_CHANNEL_OWNER`,
 * `CHANNEL_CLOSED`, `STORAGE_FULL`
 */
export async function createPost(
  sql: Sql,
  target: { id: ChannelId; caller: AccountId },
  { type, content }: { type: string; content: string },
  parts: { clock: Clock; randomBytes: RandomBytes; limits: Limits },
): Promise<Posted> {
  // Posts to several channels at the same time must not all use the last bytes. Accounts are locked first.
  if (!(await lockAccounts(sql, [target.caller]))) throw new ProtocolError('TOKEN_DEAD')
  const { id: channel } = await lockOpenChannel(sql, target)
  const author = await findAccount(sql, target.caller)
  if (!author) throw new ProtocolError('TOKEN_DEAD')
  // The times in a channel never decrease, even if the clock was set back.
  const [last] = await sql<{ at: number | null }>`
    SELECT created_at AS at FROM channel_posts WHERE channel = ${channel} ORDER BY id DESC LIMIT 1`
  const now = Math.max(parts.clock.now(), last?.at ?? 0)
  const hexTime = now.toString(16).padStart(12, '0')
  const postId = `p_${hexTime}${randomText(parts.randomBytes, 12)}`
  const [row] = await sql<{ post_id: PostId }>`
    INSERT INTO channel_posts (post_id, channel, author_id, type, content, created_at)
    VALUES (${postId}, ${channel}, ${target.caller}, ${type}, ${content}, ${now}) RETURNING post_id`
  if (!row) throw new Error('the post was not stored')
  const replaced = await sql<{ bytes: number }>`
    DELETE FROM channel_posts WHERE id IN (
      SELECT id FROM channel_posts WHERE channel = ${channel} ORDER BY id DESC LIMIT 10 OFFSET ${parts.limits.channelPosts})
    RETURNING octet_length(content) AS bytes`
  await addBytes(sql, channel, Buffer.byteLength(content) - sumOf(replaced))
  const [all] = await sql<{ bytes: number }>`
    SELECT CAST(SUM(post_bytes) AS BIGINT) AS bytes FROM channels WHERE owner_id = ${target.caller}`
  // The transaction then leaves nothing of the post.
  if ((all?.bytes ?? 0) > parts.limits.channelBytes) throw new ProtocolError('STORAGE_FULL')
  return { channel, post: postOf({ ...row, type, content, created_at: now, alias_id: author.alias_id }) }
}

/** Deletes a post. @throws ProtocolError `NOT_FOUND`, `NOT_CHANNEL_OWNER` */
export async function deletePost(
  sql: Sql,
  target: { id: ChannelId; post: PostId; caller: AccountId },
): Promise<void> {
  const { id: channel } = await lockOwnChannel(sql, target)
  const deleted = await sql<{ bytes: number }>`
    DELETE FROM channel_posts WHERE channel = ${channel} AND post_id = ${target.post}
    RETURNING octet_length(content) AS bytes`
  if (deleted.length === 0) throw new ProtocolError('NOT_FOUND')
  await addBytes(sql, channel, -sumOf(deleted))
}

async function addBytes(sql: Sql, channel: ChannelNumber, bytes: number): Promise<void> {
  await sql`UPDATE channels SET post_bytes = post_bytes + ${bytes} WHERE id = ${channel}`
}

function sumOf(posts: readonly { bytes: number }[]): number {
  return posts.reduce((sum, { bytes }) => sum + bytes, 0)
}

/**
 * A batch of a channel's posts, the newest first. @throws ProtocolError `NOT_FOUND` if `before` is not a post
 * of the channel
 */
export async function listPosts(
  sql: Sql,
  channel: ChannelNumber,
  batch: { before: PostId | undefined; limit: number },
): Promise<ChannelPost[]> {
  const before =
    batch.before === undefined ? Number.MAX_SAFE_INTEGER : await numberOf(sql, channel, batch.before)
  const rows = await sql<PostRow>`
    SELECT post_id, type, content, batch.created_at, alias_id FROM (
      SELECT id, author_id, post_id, type, content, created_at,
        SUM(LENGTH(content)) OVER (ORDER BY id DESC) - LENGTH(content) AS before_it
      FROM (
        SELECT * FROM channel_posts WHERE channel = ${channel} AND id < ${before} ORDER BY id DESC LIMIT ${batch.limit}
      ) AS newest
    ) AS batch JOIN accounts ON accounts.id = author_id
    WHERE before_it < ${MOST_BATCH_CHARACTERS} ORDER BY batch.id DESC`
  return rows.map(postOf)
}

/** The frame that announces a new post. */
export function channelPostFrame(channelId: ChannelId, post: ChannelPost): string {
  const { id, type, content, created_at, author_alias_id } = post
  const channel = { channel_id: channelId, conv_id: channelId }
  return encodeFrame({
    type: 'channel_post',
    ...channel,
    ...{ id, post_type: type, content, created_at, author_alias_id, post },
  })
}

async function numberOf(sql: Sql, channel: ChannelNumber, post: PostId): Promise<number> {
  const [row] = await sql<{ id: number }>`
    SELECT id FROM channel_posts WHERE channel = ${channel} AND post_id = ${post}`
  if (!row) throw new ProtocolError('NOT_FOUND')
  return row.id
}

function postOf({ post_id, type, content, created_at, alias_id }: PostRow): ChannelPost {
  return {
    id: post_id,
    type,
    content,
    created_at: new Date(created_at).toISOString(),
    author_alias_id: alias_id,
  }
}
