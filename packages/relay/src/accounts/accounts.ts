// The public file of accounts: finds, adds, renames them, and marks them deleted.
import type { AccountUuid, AliasId } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomBelow, randomUuid } from '../operations/random.ts'
import type { AccountId, Sql } from '../storage/storage.ts'

export { logOutEverywhere } from './logouts.ts'
export { liftEndedSuspension, liftSuspension, type Suspension, suspend, suspended } from './suspensions.ts'

/** An account that is not deleted. */
export interface Account {
  readonly id: AccountId
  readonly uuid: AccountUuid
  readonly alias_id: AliasId
  readonly nickname: string
  readonly ed25519_public_key: string
  readonly x25519_public_key: string
  readonly created_at: number
  /** Changes each time the account logs out everywhere. Tokens belong to one value. */
  readonly logged_out_at: number
}

/** The account with this number, if it is not deleted. */
export async function findAccount(sql: Sql, id: AccountId): Promise<Account | undefined> {
  const [row] = await sql<Account>`
    SELECT id, uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at, logged_out_at
    FROM accounts WHERE id = ${id} AND deleted_at IS NULL`
  return row
}

/** The account with this current alias. Former aliases are not found. */
export async function findAccountByAlias(sql: Sql, alias: AliasId): Promise<Account | undefined> {
  const [row] = await sql<Account>`
    SELECT id, uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at, logged_out_at
    FROM accounts WHERE alias_id = ${alias} AND deleted_at IS NULL`
  return row
}

/** The account with this uuid, if it is not deleted. */
export async function findAccountByUuid(sql: Sql, uuid: AccountUuid): Promise<Account | undefined> {
  const [row] = await sql<Account>`
    SELECT id, uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at, logged_out_at
    FROM accounts WHERE uuid = ${uuid} AND deleted_at IS NULL`
  return row
}

/** The account that registered this signing key. */
export async function findAccountByKey(sql: Sql, ed25519PublicKey: string): Promise<Account | undefined> {
  const [row] = await sql<Account>`
    SELECT id, uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at, logged_out_at
    FROM accounts WHERE ed25519_public_key = ${ed25519PublicKey}`
  return row
}

/** The keys and name of an account to add. */
export interface NewAccount {
  readonly ed25519PublicKey: string
  readonly x25519PublicKey: string
  readonly nickname: string
}

/**
 * Adds an account with a new uuid and alias.
 * @returns undefined if the signing key was registered in the meantime
 */
export async function addAccount(
  sql: Sql,
  account: NewAccount,
  parts: { clock: Clock; randomBytes: RandomBytes },
): Promise<{ uuid: string; alias_id: string } | undefined> {
  const uuid = randomUuid(parts.randomBytes)
  for (let attempt = 0; attempt < ALIAS_ATTEMPTS; attempt++) {
    const alias = randomAlias(parts.randomBytes, attempt < 4 ? 8 : 9)
    const [existing] = await sql<{ alias_id: string }>`SELECT alias_id FROM aliases WHERE alias_id = ${alias}`
    if (existing) continue
    const [added] = await sql<{ id: AccountId }>`
      INSERT INTO accounts (uuid, alias_id, nickname, ed25519_public_key, x25519_public_key, created_at)
      VALUES (${uuid}, ${alias}, ${account.nickname}, ${account.ed25519PublicKey}, ${account.x25519PublicKey},
        ${parts.clock.now()})
      ON CONFLICT DO NOTHING RETURNING id`
    if (added) {
      await sql`INSERT INTO aliases (alias_id, account_id) VALUES (${alias}, ${added.id})`
      await sql`INSERT INTO mailboxes (account_id, last_position, pending_count, pending_bytes) VALUES (${added.id}, 0, 0, 0)`
      return { uuid, alias_id: alias }
    }
    if (await findAccountByKey(sql, account.ed25519PublicKey)) return undefined
  }
  throw new Error('no free alias found')
}

// Aliases have eight digits, enough for millions of accounts. After four collisions in a row a ninth digit is
// used.
const ALIAS_ATTEMPTS = 12

function randomAlias(randomBytes: RandomBytes, digits: number): string {
  return `u${randomBelow(randomBytes, 10 ** digits)
    .toString()
    .padStart(digits, '0')}`
}

/**
 * Locks accounts, the lowest number first, so that none of them is deleted before the transaction ends.
 * @returns false if one of them does not exist
 */
export async function lockAccounts(sql: Sql, ids: readonly AccountId[]): Promise<boolean> {
  for (const id of ids.toSorted((a, b) => a - b)) {
    const [row] = await sql<{ id: AccountId }>`
      UPDATE accounts SET nickname = nickname WHERE id = ${id} AND deleted_at IS NULL RETURNING id`
    if (!row) return false
  }
  return true
}

/**
 * Gives an account another alias, which no account may have or have had. The account keeps its former aliases
 * too.
 */
export async function changeAlias(sql: Sql, id: AccountId, alias: AliasId): Promise<void> {
  await sql`INSERT INTO aliases (alias_id, account_id) VALUES (${alias}, ${id})`
  await sql`UPDATE accounts SET alias_id = ${alias} WHERE id = ${id}`
}

/**
 * Marks an account as deleted, and to be purged. Its row stays, without keys or name, so that its uuid and
 * aliases are never used again.
 * @returns false if it was deleted before
 */
export async function markDeleted(sql: Sql, account: AccountId, now: number): Promise<boolean> {
  if (!(await lockAccounts(sql, [account]))) return false
  await sql`
    UPDATE accounts SET deleted_at = ${now}, nickname = '', ed25519_public_key = NULL, x25519_public_key = NULL
    WHERE id = ${account}`
  await sql`DELETE FROM tickets WHERE account_id = ${account}`
  await sql`INSERT INTO account_purges (account_id) VALUES (${account})`
  return true
}
