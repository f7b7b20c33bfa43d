// The operator's commands that export what the relay holds of one account, for its owner. Messages are not
// in it: they are sealed, and the owner's devices have them. Nor is anything secret: no token, no key.
import { AliasId } from '@sotto/protocol'
import * as v from 'valibot'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from './listener/operator-command.ts'
import type { AccountId, Sql, Storage } from './storage/storage.ts'

const POSTS_IN_ANSWER = 100
const Text = v.string()
const Time = v.string()
const OptionalTime = v.nullable(Time)

/** What the relay holds of an account. Times are ISO 8601, prices are whole stablecoin units. */
const AccountExport = v.object({
  exported_at: Time,
  alias_id: Text,
  former_alias_ids: v.array(Text),
  nickname: Text,
  ed25519_public_key: Text,
  x25519_public_key: Text,
  created_at: Time,
  /** When the account was last logged out everywhere. */
  logged_out_at: OptionalTime,
  /** Null if the account is not suspended. */
  suspension: v.nullable(v.object({ since: Time, ends_at: OptionalTime, reason: Text })),
  /**
   * The newest WebSocket and how many there were; null in a relay of one process, which does not store it.
   */
  last_connection: v.nullable(v.object({ number: v.number(), is_open: v.boolean(), token_expires_at: Time })),
  friends: v.array(
    v.object({
      alias_id: Text,
      status: Text,
      is_requested_by_owner: v.boolean(),
      created_at: Time,
      changed_at: Time,
    }),
  ),
  blocked: v.array(v.object({ alias_id: Text, created_at: Time })),
  /** With whom messages were exchanged. The sequences say how far this account's receipts are. */
  conversations: v.array(
    v.object({
      conv_id: Text,
      alias_id: Text,
      is_open: v.boolean(),
      last_at: Time,
      delivered_seq: v.nullable(v.number()),
      read_seq: v.nullable(v.number()),
      /** How many handshakes there were. */
      epoch: v.number(),
      /** The size of what a device joins with. It is sealed. */
      group_info_bytes: v.number(),
    }),
  ),
  /** Sealed messages and retractions that no device of the account has fetched yet. */
  waiting_messages: v.object({ count: v.number(), bytes: v.number() }),
  /** The ids of sent messages, which the relay keeps so that none is stored twice. */
  sent_message_ids: v.object({ count: v.number(), first_at: OptionalTime }),
  /** Frames that wait for the account, such as one that an order was paid. */
  notices: v.array(v.object({ created_at: Time, frame: v.unknown() })),
  media: v.array(v.object({ media_key: Text, state: Text, bytes: v.number(), expires_at: OptionalTime })),
  push_subscriptions: v.array(v.object({ kind: Text, host: Text, subscribed_at: Time })),
  /** The key packages of each device, without the packages. `count` is without the last resort. */
  key_packages: v.array(
    v.object({ device: Text, uploaded_at: Time, count: v.number(), has_last_resort: v.boolean() }),
  ),
  /** The ids of packages that were given out, which the relay keeps so that none is taken twice. */
  key_package_ids_given_out: v.number(),
  /** Whose packages the account got on a day, and how often. */
  key_package_claims: v.array(v.object({ alias_id: Text, day: Time, claims: v.number() })),
  channels: v.array(
    v.object({
      channel_id: Text,
      name: Text,
      description: Text,
      is_public: v.boolean(),
      sale_price: v.nullable(v.number()),
      /** Why the operator closed it; null while it is open. */
      closed_for: v.nullable(Text),
      created_at: Time,
    }),
  ),
  subscriptions: v.array(v.object({ channel_id: Text, created_at: Time })),
  channel_seats_bought: v.number(),
  /** Those that the account bought or sold. */
  orders: v.array(
    v.object({
      order_id: Text,
      is_bought_by_owner: v.boolean(),
      kind: Text,
      title: Text,
      price: v.number(),
      status: Text,
      created_at: Time,
      confirmed_at: OptionalTime,
    }),
  ),
  invites: v.array(
    v.object({
      note: Text,
      uses: v.number(),
      uses_left: v.number(),
      created_at: Time,
      expires_at: OptionalTime,
    }),
  ),
  /** What the account reported to the operator. */
  reports: v.array(
    v.object({
      about: Text,
      object: Text,
      reason: Text,
      /** What the owner attached; null if nothing, or if the report is done. */
      content: v.nullable(Text),
      reported_at: Time,
      done_at: OptionalTime,
    }),
  ),
})
/** See {@link AccountExport}. */
type AccountExport = v.InferOutput<typeof AccountExport>

const PostsExport = v.object({
  posts: v.array(v.object({ channel_id: Text, post_id: Text, type: Text, content: Text, created_at: Time })),
  /** Where the next answer begins; null after the last. */
  next: v.nullable(v.number()),
})

/** The schema of each command's answer. */
export const exportAnswers = { 'export.account': AccountExport, 'export.posts': PostsExport } as const

/** The commands, by name. */
export function exportCommands({
  storage,
  clock,
}: {
  storage: Storage
  clock: { now(): number }
}): Readonly<Record<keyof typeof exportAnswers, OperatorCommand>> {
  return {
    /** All but the posts. The alias may be a former one. */
    'export.account': operatorCommand(v.object({ alias_id: AliasId }), async ({ alias_id }) => {
      const account = await findAccount(storage.sql, alias_id)
      return await exportOf(storage.sql, account, clock.now())
    }),
    /** The account's posts in channels, the oldest first. */
    'export.posts': operatorCommand(
      v.object({ alias_id: AliasId, after: v.number() }),
      async ({ alias_id, after }) => postsOf(storage.sql, await findAccount(storage.sql, alias_id), after),
    ),
  }
}

async function findAccount(sql: Sql, alias: string): Promise<AccountId> {
  const [account] = await sql<{ id: AccountId }>`
    SELECT accounts.id FROM aliases JOIN accounts ON accounts.id = account_id
    WHERE aliases.alias_id = ${alias} AND deleted_at IS NULL`
  if (!account) throw new OperatorRefusal(`no account has the alias ${alias}`)
  return account.id
}

async function exportOf(sql: Sql, account: AccountId, now: number): Promise<AccountExport> {
  const [own] = await sql<OwnRow>`
    SELECT alias_id, nickname, ed25519_public_key, x25519_public_key, created_at, logged_out_at
    FROM accounts WHERE id = ${account}`
  if (!own) throw new OperatorRefusal('the account was deleted meanwhile')
  const former = await sql<{ alias_id: string }>`
    SELECT alias_id FROM aliases WHERE account_id = ${account} AND alias_id <> ${own.alias_id}
    ORDER BY alias_id`
  return {
    exported_at: timeOf(now),
    ...own,
    created_at: timeOf(own.created_at),
    logged_out_at: timeIfAny(own.logged_out_at || null),
    former_alias_ids: former.map(({ alias_id }) => alias_id),
    suspension: await suspensionOf(sql, account),
    last_connection: await lastConnectionOf(sql, account),
    ...(await peopleOf(sql, account)),
    ...(await messagesOf(sql, account)),
    ...(await channelsOf(sql, account)),
    ...(await shopOf(sql, account)),
    ...(await devicesOf(sql, account)),
    ...(await keyPackagesOf(sql, account)),
  }
}

interface OwnRow {
  alias_id: string
  nickname: string
  ed25519_public_key: string
  x25519_public_key: string
  created_at: number
  /** 0 if never. */
  logged_out_at: number
}

async function suspensionOf(sql: Sql, account: AccountId): Promise<AccountExport['suspension']> {
  const [suspension] = await sql<{ since: number; ends_at: number | null; reason: string }>`
    SELECT since, ends_at, reason FROM suspensions WHERE account_id = ${account}`
  if (!suspension) return null
  return { ...suspension, since: timeOf(suspension.since), ends_at: timeIfAny(suspension.ends_at) }
}

async function lastConnectionOf(sql: Sql, account: AccountId): Promise<AccountExport['last_connection']> {
  const [last] = await sql<{ epoch: number; node: string; token_ends_at: number }>`
    SELECT epoch, node, token_ends_at FROM connections WHERE account_id = ${account}`
  if (!last) return null
  return { number: last.epoch, is_open: last.node !== '', token_expires_at: timeOf(last.token_ends_at) }
}

async function peopleOf(sql: Sql, account: AccountId) {
  const friends = await sql<{
    alias_id: string
    status: string
    requester_id: number
    created_at: number
    changed_at: number
  }>`
    SELECT accounts.alias_id, status, requester_id, friendships.created_at, changed_at FROM friendships
    JOIN accounts ON accounts.id = CASE WHEN low_id = ${account} THEN high_id ELSE low_id END
    WHERE low_id = ${account} OR high_id = ${account} ORDER BY friendships.id`
  const blocked = await sql<{ alias_id: string; created_at: number }>`
    SELECT accounts.alias_id, blocks.created_at FROM blocks JOIN accounts ON accounts.id = blocked_id
    WHERE blocker_id = ${account} ORDER BY blocks.created_at, accounts.alias_id`
  const invites = await sql<{
    note: string
    uses: number
    uses_left: number
    created_at: number
    expires_at: number | null
  }>`
    SELECT note, uses, uses_left, created_at, expires_at FROM invites WHERE account_id = ${account}
    ORDER BY created_at, invite_id`
  const reports = await sql<{
    about: string
    object: string
    reason: string
    content: string | null
    reported_at: number
    done_at: number | null
  }>`
    SELECT about, object, reason, content, reported_at, done_at FROM reports WHERE reporter_id = ${account}
    ORDER BY id`
  return {
    friends: friends.map(({ requester_id, created_at, changed_at, ...friend }) => ({
      ...friend,
      is_requested_by_owner: requester_id === account,
      created_at: timeOf(created_at),
      changed_at: timeOf(changed_at),
    })),
    blocked: blocked.map((block) => ({ ...block, created_at: timeOf(block.created_at) })),
    invites: invites.map((invite) => ({
      ...invite,
      created_at: timeOf(invite.created_at),
      expires_at: timeIfAny(invite.expires_at),
    })),
    reports: reports.map((report) => ({
      ...report,
      reported_at: timeOf(report.reported_at),
      done_at: timeIfAny(report.done_at),
    })),
  }
}

async function messagesOf(sql: Sql, account: AccountId) {
  const conversations = await sql<{
    conv_id: string
    alias_id: string
    is_open: number
    last_at: number
    delivered_seq: number | null
    read_seq: number | null
    epoch: number
    group_info_bytes: number
  }>`
    SELECT conv_id, accounts.alias_id, is_open, last_at, delivered_seq, read_seq, group_epoch AS epoch,
      COALESCE(octet_length(group_info), 0) AS group_info_bytes FROM conversations
    JOIN accounts ON accounts.id = CASE WHEN low_id = ${account} THEN high_id ELSE low_id END
    LEFT JOIN lanes ON lanes.conversation_id = conversations.id AND lanes.recipient_id = ${account}
    LEFT JOIN group_infos ON group_infos.conversation_id = conversations.id
    WHERE low_id = ${account} OR high_id = ${account} ORDER BY conversations.id`
  const [waiting] = await sql<{ count: number; bytes: number }>`
    SELECT pending_count AS count, pending_bytes AS bytes FROM mailboxes WHERE account_id = ${account}`
  const [sent] = await sql<{ count: number; first_at: number | null }>`
    SELECT COUNT(*) AS count, MIN(at) AS first_at FROM sent_ids WHERE sender_id = ${account}`
  const notices = await sql<{ created_at: number; frame: string }>`
    SELECT created_at, frame FROM notices WHERE account_id = ${account} ORDER BY id`
  return {
    conversations: conversations.map((conversation) => ({
      ...conversation,
      is_open: conversation.is_open === 1,
      last_at: timeOf(conversation.last_at),
    })),
    waiting_messages: waiting ?? { count: 0, bytes: 0 },
    sent_message_ids: { count: sent?.count ?? 0, first_at: timeIfAny(sent?.first_at ?? null) },
    notices: notices.map(({ created_at, frame }) => ({
      created_at: timeOf(created_at),
      frame: JSON.parse(frame) as unknown,
    })),
  }
}

async function channelsOf(sql: Sql, account: AccountId) {
  const channels = await sql<{
    channel_id: string
    name: string
    description: string
    is_public: number
    sale_price: number | null
    closed_for: string | null
    created_at: number
  }>`
    SELECT channel_id, name, description, is_public, sale_price, closed_for, created_at FROM channels
    WHERE owner_id = ${account} ORDER BY id`
  const subscriptions = await sql<{ channel_id: string; created_at: number }>`
    SELECT channel_id, channel_subscriptions.created_at FROM channel_subscriptions
    JOIN channels ON channels.id = channel WHERE account_id = ${account} ORDER BY channels.id`
  const [seats] = await sql<{ bought: number }>`
    SELECT bought FROM channel_seats WHERE account_id = ${account}`
  return {
    channels: channels.map((channel) => ({
      ...channel,
      is_public: channel.is_public === 1,
      created_at: timeOf(channel.created_at),
    })),
    subscriptions: subscriptions.map(({ channel_id, created_at }) => ({
      channel_id,
      created_at: timeOf(created_at),
    })),
    channel_seats_bought: seats?.bought ?? 0,
  }
}

async function shopOf(sql: Sql, account: AccountId) {
  const orders = await sql<{
    order_id: string
    buyer_id: number | null
    kind: string
    title: string
    price: number
    status: string
    created_at: number
    confirmed_at: number | null
  }>`
    SELECT order_id, buyer_id, kind, title, price, status, created_at, confirmed_at FROM orders
    WHERE buyer_id = ${account} OR seller_id = ${account} ORDER BY id`
  return {
    orders: orders.map(({ buyer_id, ...order }) => ({
      ...order,
      is_bought_by_owner: buyer_id === account,
      created_at: timeOf(order.created_at),
      confirmed_at: timeIfAny(order.confirmed_at),
    })),
  }
}

async function devicesOf(sql: Sql, account: AccountId) {
  const media = await sql<{ media_key: string; state: string; bytes: number; expires_at: number | null }>`
    SELECT media_key, state, bytes, expires_at FROM media_blobs WHERE account_id = ${account} ORDER BY id`
  const subscriptions = await sql<{ kind: string; host: string; subscribed_at: number }>`
    SELECT kind, host, subscribed_at FROM push_subscriptions WHERE account_id = ${account} ORDER BY id`
  return {
    media: media.map((blob) => ({ ...blob, expires_at: timeIfAny(blob.expires_at) })),
    push_subscriptions: subscriptions.map((subscription) => ({
      ...subscription,
      subscribed_at: timeOf(subscription.subscribed_at),
    })),
  }
}

async function keyPackagesOf(sql: Sql, account: AccountId) {
  const devices = await sql<{ device: string; uploaded_at: number; count: number; last: number }>`
    SELECT device, uploaded_at, (
      SELECT COUNT(*) FROM key_packages WHERE key_packages.account_id = key_package_devices.account_id
        AND key_packages.device = key_package_devices.device AND is_given = 0 AND is_last_resort = 0
    ) AS count, (
      SELECT COUNT(*) FROM key_packages WHERE key_packages.account_id = key_package_devices.account_id
        AND key_packages.device = key_package_devices.device AND is_last_resort = 1
    ) AS last
    FROM key_package_devices WHERE account_id = ${account} ORDER BY uploaded_at DESC, device`
  const [given] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM key_packages
    WHERE account_id = ${account} AND is_given = 1 AND is_last_resort = 0`
  const claims = await sql<{ alias_id: string; day: number; claims: number }>`
    SELECT accounts.alias_id, day, claims FROM key_package_claims JOIN accounts ON accounts.id = account_id
    WHERE claimer_id = ${account} ORDER BY accounts.alias_id`
  return {
    key_packages: devices.map(({ device, uploaded_at, count, last }) => ({
      ...{ device, uploaded_at: timeOf(uploaded_at), count },
      has_last_resort: last > 0,
    })),
    key_package_ids_given_out: given?.count ?? 0,
    key_package_claims: claims.map((claim) => ({ ...claim, day: timeOf(claim.day * 86_400_000) })),
  }
}

async function postsOf(
  sql: Sql,
  account: AccountId,
  after: number,
): Promise<v.InferOutput<typeof PostsExport>> {
  const posts = await sql<{
    id: number
    channel_id: string
    post_id: string
    type: string
    content: string
    created_at: number
  }>`
    SELECT channel_posts.id, channel_id, post_id, type, content, channel_posts.created_at FROM channel_posts
    JOIN channels ON channels.id = channel WHERE author_id = ${account} AND channel_posts.id > ${after}
    ORDER BY channel_posts.id LIMIT ${POSTS_IN_ANSWER}`
  return {
    posts: posts.map(({ id: _, ...post }) => ({ ...post, created_at: timeOf(post.created_at) })),
    next: posts.length < POSTS_IN_ANSWER ? null : (posts.at(-1)?.id ?? null),
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

function timeIfAny(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms)
}
