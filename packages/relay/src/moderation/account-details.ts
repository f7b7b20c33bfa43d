// What the relay knows about an account, for its operator. It counts friends and messages, and names none.
import * as v from 'valibot'
import type { AccountId, Sql } from '../storage/storage.ts'

/** An account in a list. Times are ISO 8601. */
export const AccountLine = v.object({
  alias_id: v.string(),
  uuid: v.string(),
  nickname: v.string(),
  created_at: v.string(),
  /** Null if it is not suspended. */
  suspended: v.nullable(v.object({ since: v.string(), until: v.nullable(v.string()), reason: v.string() })),
})
/** See {@link AccountLine}. */
export type AccountLine = v.InferOutput<typeof AccountLine>

/** An account with all that the relay knows about it. */
export const AccountDetail = v.object({
  ...AccountLine.entries,
  former_aliases: v.array(v.string()),
  ed25519_public_key: v.string(),
  x25519_public_key: v.string(),
  friends: v.number(),
  requests_sent: v.number(),
  requests_received: v.number(),
  /** How many accounts it has blocked, and how many have blocked it. */
  blocks: v.number(),
  blocked_by: v.number(),
  /** What waits for it. */
  messages_waiting: v.number(),
  bytes_waiting: v.number(),
  media_blobs: v.number(),
  media_bytes: v.number(),
  channels: v.array(v.object({ channel_id: v.string(), name: v.string() })),
  subscriptions: v.number(),
  push_subscriptions: v.number(),
  orders: v.number(),
})
/** See {@link AccountDetail}. */
export type AccountDetail = v.InferOutput<typeof AccountDetail>

/** An account that is not deleted, with its suspension. */
export interface AccountRow {
  readonly id: AccountId
  readonly uuid: string
  readonly alias_id: string
  readonly nickname: string
  readonly created_at: number
  readonly ed25519_public_key: string
  readonly x25519_public_key: string
  /** Null if the account is not suspended. */
  readonly since: number | null
  readonly ends_at: number | null
  readonly reason: string | null
}

/** The account as a list shows it. */
export function accountLineOf({
  alias_id,
  uuid,
  nickname,
  created_at,
  since,
  ends_at,
  reason,
}: AccountRow): AccountLine {
  return {
    ...{ alias_id, uuid, nickname, created_at: isoOf(created_at) },
    suspended:
      since === null || reason === null
        ? null
        : { since: isoOf(since), until: ends_at === null ? null : isoOf(ends_at), reason },
  }
}

/** Reads all that the relay knows about an account. */
export async function accountDetailOf(sql: Sql, row: AccountRow): Promise<AccountDetail> {
  const { id, ed25519_public_key, x25519_public_key } = row
  const aliases = await sql<{ alias_id: string }>`
    SELECT alias_id FROM aliases WHERE account_id = ${id} AND alias_id <> ${row.alias_id} ORDER BY alias_id`
  const channels = await sql<{ channel_id: string; name: string }>`
    SELECT channel_id, name FROM channels WHERE owner_id = ${id} ORDER BY id`
  const [counts] = await sql<Counts>`
    SELECT
      (SELECT COUNT(*) FROM friendships WHERE status = 'accepted' AND (low_id = ${id} OR high_id = ${id})) AS friends,
      (SELECT COUNT(*) FROM friendships WHERE status <> 'accepted' AND requester_id = ${id}) AS requests_sent,
      (SELECT COUNT(*) FROM friendships WHERE status = 'pending' AND recipient_id = ${id}) AS requests_received,
      (SELECT COUNT(*) FROM blocks WHERE blocker_id = ${id}) AS blocks,
      (SELECT COUNT(*) FROM blocks WHERE blocked_id = ${id}) AS blocked_by,
      (SELECT COUNT(*) FROM media_blobs WHERE account_id = ${id}) AS media_blobs,
      (SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM media_blobs WHERE account_id = ${id}) AS media_bytes,
      (SELECT COUNT(*) FROM channel_subscriptions WHERE account_id = ${id}) AS subscriptions,
      (SELECT COUNT(*) FROM push_subscriptions WHERE account_id = ${id}) AS push_subscriptions,
      (SELECT COUNT(*) FROM orders WHERE buyer_id = ${id}) AS orders,
      pending_count AS messages_waiting, pending_bytes AS bytes_waiting
    FROM mailboxes WHERE account_id = ${id}`
  if (!counts) throw new Error('an account has no mailbox')
  return {
    ...accountLineOf(row),
    former_aliases: aliases.map(({ alias_id }) => alias_id),
    ...{ ed25519_public_key, x25519_public_key, channels },
    ...counts,
  }
}

type Counts = Omit<
  AccountDetail,
  keyof AccountLine | 'former_aliases' | 'ed25519_public_key' | 'x25519_public_key' | 'channels'
>

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
