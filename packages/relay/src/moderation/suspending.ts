// Suspending accounts and lifting suspensions, with what their connections and those of others must learn.
import { encodeFrame } from '@sotto/protocol'
import {
  liftEndedSuspension,
  liftSuspension,
  type Suspension,
  suspend,
  suspended,
} from '../accounts/accounts.ts'
import type { Bus } from '../cluster/bus.ts'
import { errorFrame } from '../gateway/error-frame.ts'
import { listWaitingOf } from '../messages/messages.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'

/** What suspending is built from. */
export interface SuspendingParts {
  readonly storage: Storage
  readonly bus: Bus
  readonly clock: Clock
}

/**
 * Suspends an account, or changes its suspension: its tokens are dead, and its connection closes.
 * @param together what to write in the same transaction
 */
export async function suspendAccount(
  account: AccountId,
  suspension: Suspension,
  { storage, bus, clock }: SuspendingParts,
  together: (sql: Sql) => Promise<void>,
): Promise<void> {
  await storage.transaction(async (sql) => {
    await suspend(sql, account, { ...suspension, since: clock.now() })
    await together(sql)
  })
  bus.ring(account, { kind: 'suspended', frame: encodeFrame(errorFrame(suspended(suspension), {})) })
}

/**
 * Lifts a suspension: the account can log in again, and what it had sent is delivered.
 * @param together what to write in the same transaction
 * @returns false if the account was not suspended
 */
export async function liftFrom(
  account: AccountId,
  parts: SuspendingParts,
  together: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  const wasSuspended = await parts.storage.transaction(async (sql) => {
    if (!(await liftSuspension(sql, account))) return false
    await together(sql)
    return true
  })
  if (wasSuspended) await ringRecipients(account, parts)
  return wasSuspended
}

// Recipients who are connected get what was withheld. If a ring gets lost, a later check finds it in the
// store.
async function ringRecipients(account: AccountId, { storage, bus }: SuspendingParts): Promise<void> {
  for (const { recipient, conversation } of await listWaitingOf(storage.sql, account))
    bus.ring(recipient, { kind: 'released', conversation })
}

/** How many suspensions one pass ends. */
const MOST_PER_PASS = 500

/** Lifts the suspensions whose time is over. Runs periodically. */
export async function liftEnded(parts: SuspendingParts): Promise<void> {
  const { storage, clock } = parts
  const now = clock.now()
  const ended = await storage.sql<{ account_id: AccountId }>`
    SELECT account_id FROM suspensions WHERE ends_at <= ${now} ORDER BY ends_at LIMIT ${MOST_PER_PASS}`
  for (const { account_id: account } of ended) {
    // The operator may have prolonged it meanwhile.
    if (await storage.transaction((sql) => liftEndedSuspension(sql, account, now)))
      await ringRecipients(account, parts)
  }
}

/**
 * Lets the suspension of a deleted account end once the messages that it had sent have expired, so that
 * nobody gets them. Without a reason, because nobody can read it any more.
 */
export async function outliveMessages(
  sql: Sql,
  account: AccountId,
  { clock, messageLifeDays }: { clock: Clock; messageLifeDays: number },
): Promise<void> {
  const endsAt = clock.now() + messageLifeDays * 86_400_000
  await sql`UPDATE suspensions SET reason = '', ends_at = ${endsAt} WHERE account_id = ${account}`
}
