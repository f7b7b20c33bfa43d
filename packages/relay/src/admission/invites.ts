// Invites: each lets a number of people register. The store keeps the hash of an invite's code, never the
// code, so that a reader of the store or of a copy cannot use it.
import { createHash } from 'node:crypto'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'

/** What an invite is good for: `open` lets somebody register. */
export type InviteState = 'open' | 'used_up' | 'expired' | 'revoked'

/** An invite as it is stored. Times are milliseconds since 1970. */
export interface Invite {
  readonly invite_id: string
  /** The member who made it; null if the operator did. */
  readonly account_id: AccountId | null
  readonly note: string
  readonly uses: number
  readonly uses_left: number
  readonly created_at: number
  /** Null if it does not end. */
  readonly expires_at: number | null
  /** Null if it was not revoked. */
  readonly revoked_at: number | null
}

/** An invite that can no longer be used is kept this long, so that its maker sees what became of it. */
const KEEP_ENDED_MS = 30 * 86_400_000

/** Makes an invite. @returns it, and its code, which nobody can read again */
export async function makeInvite(
  sql: Sql,
  { account, note, uses, expiresAt }: NewInvite,
  { clock, randomBytes }: { clock: Clock; randomBytes: RandomBytes },
): Promise<{ invite: Invite; code: string }> {
  // Hexadecimal, so that a code never begins with a hyphen, which a command line would take for a flag.
  const hex = (length: number): string => Buffer.from(randomBytes(length)).toString('hex')
  const code = hex(16)
  const [invite] = await sql<Invite>`
    INSERT INTO invites
      (invite_id, code_hash, account_id, note, uses, uses_left, created_at, expires_at)
    VALUES (${hex(5)}, ${hashOf(code)}, ${account}, ${note}, ${uses}, ${uses}, ${clock.now()}, ${expiresAt})
    RETURNING *`
  if (!invite) throw new Error('the new invite is missing')
  return { invite, code }
}

/** What the maker of an invite decides. */
export interface NewInvite {
  readonly account: AccountId | null
  readonly note: string
  /** How many people may register with it. */
  readonly uses: number
  /** Milliseconds since 1970; null if it does not end. */
  readonly expiresAt: number | null
}

/**
 * Uses an invite once. Of several transactions that use the last use, only one can. An invite of a member who
 * is suspended counts as revoked, so that nobody comes back by an invite of their own.
 * @returns `open` if it was used; otherwise why it was not
 */
export async function useInvite(sql: Sql, code: string, now: number): Promise<InviteState | 'unknown'> {
  const hash = hashOf(code)
  const used = await sql`
    UPDATE invites SET uses_left = uses_left - 1, used_at = ${now}
    WHERE code_hash = ${hash} AND uses_left > 0 AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${now})
      AND NOT EXISTS (SELECT 1 FROM suspensions WHERE suspensions.account_id = invites.account_id)
    RETURNING invite_id`
  if (used.length > 0) return 'open'
  const [invite] = await sql<Invite & { suspended_maker: AccountId | null }>`
    SELECT invites.*, suspensions.account_id AS suspended_maker
    FROM invites LEFT JOIN suspensions ON suspensions.account_id = invites.account_id
    WHERE code_hash = ${hash}`
  const state = invite && stateOf(invite, now)
  if (state === undefined) return 'unknown'
  if (state !== 'open') return state
  // Between the two statements, its last user may have failed to register.
  return invite?.suspended_maker ? 'revoked' : 'used_up'
}

/** What an invite is good for at this time. */
export function stateOf({ revoked_at, uses_left, expires_at }: Invite, now: number): InviteState {
  if (revoked_at !== null) return 'revoked'
  if (uses_left <= 0) return 'used_up'
  return expires_at !== null && expires_at <= now ? 'expired' : 'open'
}

/** Revokes an invite; one that was revoked stays as it is. @returns undefined if there is none */
export async function revokeInvite(sql: Sql, inviteId: string, now: number): Promise<Invite | undefined> {
  const [invite] = await sql<Invite>`
    UPDATE invites SET revoked_at = COALESCE(revoked_at, ${now}) WHERE invite_id = ${inviteId} RETURNING *`
  return invite
}

/** How many invites that a member revoked, and nobody used, are kept. */
const MOST_REVOKED = 20

/** Deletes the oldest invites that a member revoked and nobody used, so that their number has a bound. */
export async function eraseOldRevokedOf(sql: Sql, account: AccountId): Promise<void> {
  await sql`
    DELETE FROM invites WHERE invite_id IN (
      SELECT invite_id FROM invites
      WHERE account_id = ${account} AND revoked_at IS NOT NULL AND uses_left = uses
      ORDER BY revoked_at DESC, invite_id LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${MOST_REVOKED}
    )`
}

/** Deletes the invites of an account that is deleted. */
export async function endInvitesOf(sql: Sql, account: AccountId): Promise<void> {
  await sql`DELETE FROM invites WHERE account_id = ${account}`
}

/**
 * Deletes invites that ended some time ago. Those by which somebody came stay with the member who made them,
 * because they count.
 */
export async function eraseEndedInvites({
  storage,
  clock,
}: {
  storage: Storage
  clock: Clock
}): Promise<void> {
  const before = clock.now() - KEEP_ENDED_MS
  await storage.transaction(
    (sql) => sql`
      DELETE FROM invites
      WHERE (revoked_at <= ${before} OR expires_at <= ${before} OR (uses_left = 0 AND used_at <= ${before}))
        AND (account_id IS NULL OR uses_left = uses)`,
  )
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}
