// Suspended accounts. They log in only to read and delete what they have, and nothing that they sent is
// delivered (docs/decisions/0046-moderation.md).
import { type EndpointName, ProtocolError, suspendedMayCall } from '@sotto/protocol'
import type { AccountId, Sql } from '../storage/storage.ts'
import { endTokens } from './logouts.ts'

/** Why an account is suspended. */
export interface Suspension {
  /** The operator's words, which the account's owner reads. */
  readonly reason: string
  /** When it ends by itself, in milliseconds since 1970; null if never. */
  readonly ends_at: number | null
}

/** Suspends an account, or changes its suspension, and makes all its tokens dead. */
export async function suspend(
  sql: Sql,
  account: AccountId,
  { since, reason, ends_at }: Suspension & { readonly since: number },
): Promise<void> {
  await endTokens(sql, account, since)
  await sql`
    INSERT INTO suspensions (account_id, since, ends_at, reason) VALUES (${account}, ${since}, ${ends_at}, ${reason})
    ON CONFLICT (account_id) DO UPDATE SET ends_at = ${ends_at}, reason = ${reason}`
}

/**
 * The suspension of an account; undefined if there is none. One whose time is over lasts until it is lifted.
 */
export async function findSuspension(sql: Sql, account: AccountId): Promise<Suspension | undefined> {
  const [row] = await sql<Suspension>`SELECT reason, ends_at FROM suspensions WHERE account_id = ${account}`
  return row
}

/** Lifts a suspension. @returns false if there is none */
export async function liftSuspension(sql: Sql, account: AccountId): Promise<boolean> {
  const rows = await sql<{ account_id: AccountId }>`
    DELETE FROM suspensions WHERE account_id = ${account} RETURNING account_id`
  return rows.length > 0
}

/** Lifts a suspension if its time is over. @returns false if there is none, or it ends later */
export async function liftEndedSuspension(sql: Sql, account: AccountId, now: number): Promise<boolean> {
  const rows = await sql<{ account_id: AccountId }>`
    DELETE FROM suspensions WHERE account_id = ${account} AND ends_at <= ${now} RETURNING account_id`
  return rows.length > 0
}

/** Whether a suspended account can call an endpoint. */
export function mayCallSuspended(endpoint: EndpointName): boolean {
  return suspendedMayCall.includes(endpoint)
}

/** The refusal that a suspended account gets. */
export function suspended({ reason, ends_at }: Suspension): ProtocolError {
  // To the minute: milliseconds could contain 409, which only answers with that status may.
  const end = ends_at === null ? '' : ` (until ${new Date(ends_at).toISOString().slice(0, 16)}Z)`
  return new ProtocolError('ACCOUNT_SUSPENDED', { words: `${reason}${end}` })
}
