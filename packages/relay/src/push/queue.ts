// The queue of wake-up pushes, as rows: at most one row for each subscription and kind. So they survive a
// restart and do not pile up.
import type { AccountId, Sql } from '../storage/storage.ts'
import type { WakeKind } from './push-service.ts'
import type { Subscription } from './subscriptions.ts'

/** A wake-up push that was taken from the queue to be sent. */
export interface QueuedWake {
  readonly kind: WakeKind
  readonly expiresAt: number
  /** How often it was taken from the queue before. */
  readonly attempts: number
  readonly to: Subscription
}

/**
 * How long a process owns a wake-up push that it took from the queue. A process that takes longer counts as
 * dead.
 */
const HELD_MS = 30_000
/** No wake-up push is due later than this. A row that is was queued before the clock was set back. */
const MOST_AHEAD_MS = 7_200_000

/**
 * Queues a wake-up push for each browser and device of an account. If one is queued already, its due time
 * stays and its expiry is extended.
 */
export async function enqueue(
  sql: Sql,
  { account, kind, now, lifeMs }: { account: AccountId; kind: WakeKind; now: number; lifeMs: number },
): Promise<void> {
  await sql`
    INSERT INTO push_queue (subscription_id, kind, host, due_at, expires_at, attempts)
    SELECT id, CAST(${kind} AS TEXT), host, CAST(${now} AS BIGINT), CAST(${now + lifeMs} AS BIGINT), 0
    FROM push_subscriptions
    WHERE account_id = ${account} AND account_id NOT IN (SELECT account_id FROM suspensions)
    ON CONFLICT (subscription_id, kind) DO UPDATE SET expires_at = excluded.expires_at,
      due_at = CASE WHEN push_queue.due_at > ${now + MOST_AHEAD_MS} THEN excluded.due_at ELSE push_queue.due_at END,
      attempts = CASE WHEN push_queue.due_at > ${now + MOST_AHEAD_MS} THEN 0 ELSE push_queue.attempts END`
}

/** The hosts of push services that have wake-up pushes due. */
export async function listDueHosts(sql: Sql, now: number): Promise<string[]> {
  const rows = await sql<{ host: string }>`SELECT DISTINCT host FROM push_queue WHERE due_at <= ${now}`
  return rows.map(({ host }) => host)
}

interface Row {
  readonly subscription_id: number
  readonly wake: WakeKind
  readonly due_at: number
  readonly expires_at: number
  readonly attempts: number
  readonly is_wanted: number
}

/**
 * Takes the due wake-up pushes for a host from the queue, the longest due first.
 * @returns the wake-up pushes, and whether there may be more
 */
export async function takeDue(
  sql: Sql,
  { host, now, most }: { host: string; now: number; most: number },
): Promise<{ taken: QueuedWake[]; isMore: boolean }> {
  const rows = await sql<Row & Subscription>`
    SELECT queue.subscription_id, queue.kind AS wake, queue.due_at, queue.expires_at, queue.attempts, subscriptions.*,
      CASE WHEN subscriptions.id IS NULL THEN 0 WHEN queue.kind = 'call' OR EXISTS (
        SELECT 1 FROM messages WHERE messages.recipient_id = subscriptions.account_id AND messages.kind = 0
      ) THEN 1 ELSE 0 END AS is_wanted
    FROM push_queue AS queue LEFT JOIN push_subscriptions AS subscriptions ON subscriptions.id = queue.subscription_id
    WHERE queue.host = ${host} AND queue.due_at <= ${now}
    ORDER BY queue.due_at LIMIT ${most}`
  const taken: QueuedWake[] = []
  for (const {
    subscription_id: id,
    wake: kind,
    due_at,
    expires_at: expiresAt,
    attempts,
    is_wanted,
    ...to
  } of rows) {
    // The messages have been confirmed meanwhile, or another node queued this just as the subscription ended.
    if (expiresAt <= now || is_wanted === 0) {
      await finish(sql, { kind, expiresAt, to: { id } }, now)
      continue
    }
    const [mine] = await sql<{ subscription_id: number }>`
      UPDATE push_queue SET due_at = ${now + HELD_MS}, attempts = ${attempts + 1}
      WHERE subscription_id = ${id} AND kind = ${kind} AND due_at = ${due_at} RETURNING subscription_id`
    if (mine) taken.push({ kind, expiresAt, attempts, to })
  }
  return { taken, isMore: rows.length === most }
}

/**
 * Removes a wake-up push that needs no further try. If another one was queued since it was taken, that one
 * becomes due now.
 */
export async function finish(
  sql: Sql,
  wake: { kind: WakeKind; expiresAt: number; to: { id: number } },
  now: number,
): Promise<void> {
  const { kind, expiresAt, to } = wake
  await sql`
    DELETE FROM push_queue WHERE subscription_id = ${to.id} AND kind = ${kind} AND expires_at = ${expiresAt}`
  await sql`
    UPDATE push_queue SET due_at = ${now}, attempts = 0 WHERE subscription_id = ${to.id} AND kind = ${kind}`
}

/** Schedules another try of a wake-up push. */
export async function putBack(
  sql: Sql,
  wake: { kind: WakeKind; to: { id: number } },
  dueAt: number,
): Promise<void> {
  await sql`
    UPDATE push_queue SET due_at = ${dueAt} WHERE subscription_id = ${wake.to.id} AND kind = ${wake.kind}`
}
