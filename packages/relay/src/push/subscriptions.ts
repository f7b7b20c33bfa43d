// Which browsers and devices are woken for which account.
import { type Limits, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql } from '../storage/storage.ts'

/** What reaches one browser or device. */
export interface Target {
  /** `web`: by Web Push; `fcm`: by Firebase Cloud Messaging. */
  readonly kind: 'web' | 'fcm'
  /** The endpoint, or the registration token. */
  readonly target: string
  /** The browser's keys, base64url; empty for `fcm`. */
  readonly p256dh: string
  readonly auth: string
  /** The relay's key it subscribed with; empty for `fcm`. */
  readonly kid: string
  /** Whose machines are asked: what one of them holds up is only what is meant for it. */
  readonly host: string
}

/** A target as a row. */
export interface Subscription extends Target {
  readonly id: number
  readonly account_id: AccountId
  /** Since when pushes have been refused; null while they are taken. */
  readonly failing_since: number | null
}

/**
 * Has a target woken for an account, and for no other. Of too many the oldest gives way.
 * @throws ProtocolError `TOKEN_DEAD`
 */
export async function subscribe(
  sql: Sql,
  account: AccountId,
  { kind, target, p256dh, auth, kid, host }: Target,
  { clock, limits }: { clock: Clock; limits: Limits },
): Promise<void> {
  if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
  const now = clock.now()
  // What waits for it is for whoever had it before.
  await sql`
    DELETE FROM push_queue WHERE subscription_id IN (
      SELECT id FROM push_subscriptions WHERE target = ${target} AND account_id <> ${account})`
  await sql`
    INSERT INTO push_subscriptions (account_id, kind, target, p256dh, auth, kid, host, subscribed_at, failing_since)
    VALUES (${account}, ${kind}, ${target}, ${p256dh}, ${auth}, ${kid}, ${host}, ${now}, NULL)
    ON CONFLICT (target) DO UPDATE SET account_id = ${account}, kind = ${kind}, p256dh = ${p256dh}, auth = ${auth},
      kid = ${kid}, host = ${host}, subscribed_at = ${now}, failing_since = NULL`
  const older = await sql<{ id: number }>`
    SELECT id FROM push_subscriptions WHERE account_id = ${account} AND target <> ${target}
    ORDER BY subscribed_at DESC, id DESC LIMIT 1000 OFFSET ${limits.pushSubscriptions - 1}`
  for (const { id } of older) await removeSubscription(sql, id)
}

/** Ends a subscription, and what is still to be sent to it. */
export async function removeSubscription(sql: Sql, id: number): Promise<void> {
  await sql`DELETE FROM push_queue WHERE subscription_id = ${id}`
  await sql`DELETE FROM push_subscriptions WHERE id = ${id}`
}

/** Ends an account's subscriptions. */
export async function disablePush(sql: Sql, account: AccountId): Promise<void> {
  await sql`
    DELETE FROM push_queue
    WHERE subscription_id IN (SELECT id FROM push_subscriptions WHERE account_id = ${account})`
  await sql`DELETE FROM push_subscriptions WHERE account_id = ${account}`
}

/** Leaves nothing of push behind with an account that is deleted. */
export async function erasePush(sql: Sql, account: AccountId): Promise<void> {
  await disablePush(sql, account)
  await sql`DELETE FROM push_wakes WHERE account_id = ${account}`
}

/** Whether an account has anything to be woken by. */
export async function hasSubscription(sql: Sql, account: AccountId): Promise<boolean> {
  const [row] = await sql<{ id: number }>`
    SELECT id FROM push_subscriptions WHERE account_id = ${account} LIMIT 1`
  return row !== undefined
}

/**
 * Accounts with subscriptions beyond a number, at most `most`, and whether they have messages they were not woken for
 * (`is_waiting` 1).
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
