// Push subscriptions: which browsers and devices are woken for which account.
import { type Limits, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql } from '../storage/storage.ts'

/** The address and keys of one browser or device. */
export interface Target {
  /** `web`: by Web Push; `fcm`: by Firebase Cloud Messaging. */
  readonly kind: 'web' | 'fcm'
  /** The endpoint, or the registration token. */
  readonly target: string
  /** The browser's keys, base64url; empty for `fcm`. */
  readonly p256dh: string
  readonly auth: string
  /** The id of the relay's key that the browser subscribed with; empty for `fcm`. */
  readonly kid: string
  /** The host of the push service. Limits apply per host, so a slow host delays only its own pushes. */
  readonly host: string
}

/** A target to subscribe. */
export interface NewTarget extends Target {
  /** Whether the browser said that `kid` is its key. Otherwise `kid` is the newest, which is likely. */
  readonly isKidKnown: boolean
}

/** A subscription: a target as a row. */
export interface Subscription extends Target {
  readonly id: number
  readonly account_id: AccountId
  /** Since when pushes have failed; null if the last one was accepted. */
  readonly failing_since: number | null
}

/**
 * Subscribes a target for an account, and ends its subscription for any other account. If the account has too
 * many targets, the oldest is removed.
 * @throws ProtocolError `TOKEN_DEAD`
 */
export async function subscribe(
  sql: Sql,
  account: AccountId,
  { kind, target, p256dh, auth, kid, host, isKidKnown }: NewTarget,
  { clock, limits }: { clock: Clock; limits: Limits },
): Promise<void> {
  if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
  const now = clock.now()
  // A browser makes new keys for each subscription. The same keys again are the same subscription, which
  // belongs to the key that it was made with.
  const [same] = isKidKnown
    ? []
    : await sql<{ kid: string }>`
        SELECT kid FROM push_subscriptions WHERE target = ${target} AND p256dh = ${p256dh} AND auth = ${auth}`
  const known = same?.kid
  // Queued wake-up pushes belong to the account that had this target before.
  await sql`
    DELETE FROM push_queue WHERE subscription_id IN (
      SELECT id FROM push_subscriptions WHERE target = ${target} AND account_id <> ${account})`
  await sql`
    INSERT INTO push_subscriptions (account_id, kind, target, p256dh, auth, kid, host, subscribed_at, failing_since)
    VALUES (${account}, ${kind}, ${target}, ${p256dh}, ${auth}, ${kid}, ${host}, ${now}, NULL)
    ON CONFLICT (target) DO UPDATE SET account_id = ${account}, kind = ${kind}, p256dh = ${p256dh}, auth = ${auth},
      kid = ${known ?? kid}, host = ${host}, subscribed_at = ${now}, failing_since = NULL`
  const older = await sql<{ id: number }>`
    SELECT id FROM push_subscriptions WHERE account_id = ${account} AND target <> ${target}
    ORDER BY subscribed_at DESC, id DESC LIMIT 1000 OFFSET ${limits.pushSubscriptions - 1}`
  for (const { id } of older) await removeSubscription(sql, id)
}

/** Deletes a subscription and its queued wake-up pushes. */
export async function removeSubscription(sql: Sql, id: number): Promise<void> {
  await sql`DELETE FROM push_queue WHERE subscription_id = ${id}`
  await sql`DELETE FROM push_subscriptions WHERE id = ${id}`
}

/** Deletes all subscriptions of an account and their queued wake-up pushes. */
export async function disablePush(sql: Sql, account: AccountId): Promise<void> {
  await sql`
    DELETE FROM push_queue
    WHERE subscription_id IN (SELECT id FROM push_subscriptions WHERE account_id = ${account})`
  await sql`DELETE FROM push_subscriptions WHERE account_id = ${account}`
}

/** Deletes all push data of an account that is deleted. */
export async function erasePush(sql: Sql, account: AccountId): Promise<void> {
  await disablePush(sql, account)
  await sql`DELETE FROM push_wakes WHERE account_id = ${account}`
}

/** How many subscriptions were made with one of the relay's keys. */
export async function countSubscriptions(sql: Sql, kid: string): Promise<number> {
  const [row] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM push_subscriptions WHERE kid = ${kid}`
  return row?.count ?? 0
}

/** Whether an account has a subscription. */
export async function hasSubscription(sql: Sql, account: AccountId): Promise<boolean> {
  const [row] = await sql<{ id: number }>`
    SELECT id FROM push_subscriptions WHERE account_id = ${account} LIMIT 1`
  return row !== undefined
}

/**
 * Accounts that have subscriptions, in order: at most `most`, with ids above `after`. `is_waiting` is 1 if an
 * account has messages that it was not woken for.
 */
export function listSubscribers(
  sql: Sql,
  after: number,
  most: number,
): Promise<{ account_id: AccountId; is_waiting: number }[]> {
  return sql<{ account_id: AccountId; is_waiting: number }>`
    SELECT subscribers.account_id, CASE WHEN mailboxes.pending_count > 0
        AND mailboxes.last_position > COALESCE(push_wakes.position, 0) THEN 1 ELSE 0 END AS is_waiting
    FROM (
      SELECT DISTINCT account_id FROM push_subscriptions WHERE account_id > ${after} ORDER BY account_id LIMIT ${most}
    ) AS subscribers
    LEFT JOIN mailboxes ON mailboxes.account_id = subscribers.account_id
    LEFT JOIN push_wakes ON push_wakes.account_id = subscribers.account_id
    ORDER BY subscribers.account_id`
}
