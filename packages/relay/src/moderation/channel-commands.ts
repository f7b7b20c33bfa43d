// The operator's commands about channels and custom ids, and their answers. Every change is recorded as a
// deed.
import { AliasId, ChannelId, PostId } from '@sotto/protocol'
import * as v from 'valibot'
import { deleteChannelOf, removePostOf, setClosed } from '../channels/channels.ts'
import {
  listLimit,
  type OperatorCommand,
  OperatorRefusal,
  operatorCommand,
} from '../listener/operator-command.ts'
import type { Clock } from '../operations/clock.ts'
import { endHold } from '../payments/payments.ts'
import { type AccountId, part, query, type Sql, type Storage } from '../storage/storage.ts'
import { addDeed, by, byAnyone, likePatterns } from './deeds.ts'

/** A channel in a list. Times are ISO 8601. */
const ChannelLine = v.object({
  channel_id: v.string(),
  name: v.string(),
  owner: v.string(),
  is_public: v.boolean(),
  subscribers: v.number(),
  created_at: v.string(),
  /** Why the operator closed it; null if it is open. */
  closed_for: v.nullable(v.string()),
})
/** See {@link ChannelLine}. */
export type ChannelLine = v.InferOutput<typeof ChannelLine>
/** A channel with its newest posts. */
const ChannelDetail = v.object({
  ...ChannelLine.entries,
  description: v.string(),
  posts: v.number(),
  post_bytes: v.number(),
  newest: v.array(
    v.object({ id: v.string(), type: v.string(), content: v.string(), created_at: v.string() }),
  ),
})
/** See {@link ChannelDetail}. */
export type ChannelDetail = v.InferOutput<typeof ChannelDetail>

const Changed = v.object({ channel_id: v.string() })
const ById = { channel_id: ChannelId }

/** The schema of each command's answer. */
export const channelAnswers = {
  'channels.find': v.array(ChannelLine),
  'channels.show': ChannelDetail,
  'channels.remove-post': v.object({ channel_id: v.string(), post_id: v.string() }),
  'channels.close': Changed,
  'channels.open': Changed,
  'channels.delete': Changed,
  'ids.free': v.object({ alias_id: v.string() }),
} as const

/** What the commands are built from. */
export interface ChannelCommandParts {
  readonly storage: Storage
  readonly clock: Clock
  /** Erases what a deleted channel left. */
  readonly purgeChannel: (channel: Awaited<ReturnType<typeof deleteChannelOf>>) => Promise<void>
}

/** The commands, by name. */
export function channelCommands(
  parts: ChannelCommandParts,
): Readonly<Record<keyof typeof channelAnswers, OperatorCommand>> {
  const { storage, clock } = parts
  const record = (sql: Sql, what: string, object: string, deedBy: { who: string; why: string }) =>
    addDeed(sql, { at: clock.now(), what, object, ...deedBy })
  return {
    /** Lists channels, the newest first: by a part of the name or the whole id, or all that are closed. */
    'channels.find': operatorCommand(
      v.object({
        text: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(64)), ''),
        closed: v.optional(v.boolean(), false),
        limit: listLimit,
      }),
      async ({ text, closed, limit }): Promise<ChannelLine[]> => {
        const { typed, lowered } = likePatterns(text)
        const rows = await storage.sql<ChannelRow>(
          ...query`
            ${SELECT_CHANNELS} WHERE (${closed ? 1 : 0} = 0 OR closed_for IS NOT NULL)
              AND (${text} = '' OR channel_id = ${text}
                OR LOWER(name) LIKE ${lowered} ESCAPE '\\' OR name LIKE ${typed} ESCAPE '\\')
            ORDER BY channels.id DESC LIMIT ${limit}`,
        )
        return rows.map(lineOf)
      },
    ),

    /** Shows a channel and its ten newest posts, which everybody who has its id can read. */
    'channels.show': operatorCommand(v.object(ById), async ({ channel_id }): Promise<ChannelDetail> => {
      const row = await getChannel(storage.sql, channel_id)
      const newest = await storage.sql<{
        post_id: string
        type: string
        content: string
        created_at: number
      }>`
        SELECT post_id, type, content, created_at FROM channel_posts WHERE channel = ${row.id}
        ORDER BY id DESC LIMIT 10`
      const [count] = await storage.sql<{ posts: number }>`
        SELECT COUNT(*) AS posts FROM channel_posts WHERE channel = ${row.id}`
      return {
        ...lineOf(row),
        ...{ description: row.description, post_bytes: row.post_bytes, posts: count?.posts ?? 0 },
        newest: newest.map(({ post_id: id, created_at, ...post }) => ({
          ...post,
          id,
          created_at: isoOf(created_at),
        })),
      }
    }),

    /** Removes a post from a channel. */
    'channels.remove-post': operatorCommand(
      v.object({ ...ById, post_id: PostId, ...by }),
      async ({ channel_id, post_id, ...deedBy }) => {
        const { owner_id: owner } = await getChannel(storage.sql, channel_id)
        const [post] = await storage.sql<{ id: number }>`
          SELECT channel_posts.id FROM channel_posts JOIN channels ON channels.id = channel
          WHERE post_id = ${post_id} AND channel_id = ${channel_id}`
        if (!post) throw new OperatorRefusal(`${channel_id} has no post ${post_id}`)
        await storage.transaction(async (sql) => {
          await removePostOf(sql, { id: channel_id, owner }, post_id)
          await record(sql, 'channels.remove-post', post_id, deedBy)
        })
        return { channel_id, post_id }
      },
    ),

    /** Closes a channel: it takes no posts, and its owner reads why. Ends its sale. */
    'channels.close': operatorCommand(v.object({ ...ById, ...by }), async ({ channel_id, ...deedBy }) => {
      await getChannel(storage.sql, channel_id)
      await storage.transaction(async (sql) => {
        await setClosed(sql, { id: channel_id, reason: deedBy.why }, parts)
        await record(sql, 'channels.close', channel_id, deedBy)
      })
      return { channel_id }
    }),

    /** Opens a closed channel again. */
    'channels.open': operatorCommand(
      v.object({ ...ById, ...byAnyone }),
      async ({ channel_id, ...deedBy }) => {
        const { closed_for } = await getChannel(storage.sql, channel_id)
        if (closed_for === null) throw new OperatorRefusal(`${channel_id} is not closed`)
        await storage.transaction(async (sql) => {
          await setClosed(sql, { id: channel_id, reason: null }, parts)
          await record(sql, 'channels.open', channel_id, deedBy)
        })
        return { channel_id }
      },
    ),

    /** Deletes a channel, as its owner can. */
    'channels.delete': operatorCommand(v.object({ ...ById, ...by }), async ({ channel_id, ...deedBy }) => {
      const { owner_id: owner } = await getChannel(storage.sql, channel_id)
      const deleted = await storage.transaction(async (sql) => {
        const channel = await deleteChannelOf(sql, { id: channel_id, owner }, parts)
        await record(sql, 'channels.delete', channel_id, deedBy)
        return channel
      })
      await parts.purgeChannel(deleted)
      return { channel_id }
    }),

    /** Ends the unpaid order that holds an id. An id that an account has or had is never given to another. */
    'ids.free': operatorCommand(
      v.object({ alias_id: AliasId, ...byAnyone }),
      async ({ alias_id, ...deedBy }) => {
        const [account] = await storage.sql<{ alias_id: string }>`
          SELECT accounts.alias_id FROM aliases JOIN accounts ON accounts.id = account_id
          WHERE aliases.alias_id = ${alias_id}`
        if (account)
          throw new OperatorRefusal(`${alias_id} belongs to the account ${account.alias_id} for good`)
        const hold = `alias:${alias_id}`
        const [order] = await storage.sql<{ order_id: string; status: string }>`
          SELECT order_id, status FROM orders WHERE holds = ${hold}`
        if (!order) throw new OperatorRefusal(`no order holds ${alias_id}`)
        if (order.status !== 'pending')
          throw new OperatorRefusal(`${alias_id} is paid for by ${order.order_id}, so its buyer can bind it`)
        await storage.transaction(async (sql) => {
          await endHold(sql, hold, parts, 'the operator freed the id')
          await record(sql, 'ids.free', alias_id, deedBy)
        })
        return { alias_id }
      },
    ),
  }
}

interface ChannelRow {
  readonly id: number
  readonly channel_id: string
  readonly owner_id: AccountId
  readonly owner: string
  readonly name: string
  readonly description: string
  readonly is_public: number
  readonly subscriber_count: number
  readonly post_bytes: number
  readonly created_at: number
  readonly closed_for: string | null
}

const SELECT_CHANNELS = part`
  SELECT channels.id, channel_id, owner_id, accounts.alias_id AS owner, name, description, is_public,
    subscriber_count, post_bytes, channels.created_at, closed_for
  FROM channels JOIN accounts ON accounts.id = owner_id`

async function getChannel(sql: Sql, id: ChannelId): Promise<ChannelRow> {
  const [row] = await sql<ChannelRow>(...query`${SELECT_CHANNELS} WHERE channel_id = ${id}`)
  if (!row) throw new OperatorRefusal(`there is no channel ${id}`)
  return row
}

function lineOf(row: ChannelRow): ChannelLine {
  const { channel_id, name, owner, closed_for } = row
  return {
    ...{ channel_id, name, owner, closed_for },
    is_public: row.is_public === 1,
    subscribers: row.subscriber_count,
    created_at: isoOf(row.created_at),
  }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
