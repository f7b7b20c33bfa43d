// Erasing key packages: what has expired, what a deleted account left, and all after a backup was restored.
import { inSlices, moreAfter, ROWS_PER_SLICE, type Sliced } from '../operations/slices.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'

const DAY_MS = 86_400_000

/** Deletes packages and ids that have expired, and the counts of past days. Runs periodically. */
export async function sweepKeyPackages(sliced: Sliced, now: number): Promise<void> {
  await inSlices(sliced, 'more', async (sql) =>
    moreAfter(
      await sql<{ id: number }>`
        DELETE FROM key_packages WHERE id IN (
          SELECT id FROM key_packages WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${ROWS_PER_SLICE})
        RETURNING id`,
    ),
  )
  const today = Math.floor(now / DAY_MS)
  await inSlices(sliced, 'more', async (sql) => {
    const past = await sql<Pair>`
      SELECT claimer_id, account_id FROM key_package_claims WHERE day < ${today} LIMIT ${ROWS_PER_SLICE}`
    // A claim of today may have begun the count again in the meantime.
    for (const { claimer_id, account_id } of past)
      await sql`
        DELETE FROM key_package_claims
        WHERE claimer_id = ${claimer_id} AND account_id = ${account_id} AND day < ${today}`
    return moreAfter(past)
  })
}

interface Pair {
  readonly claimer_id: number
  readonly account_id: number
}

/** Erases the key packages of a deleted account, and what counts its claims and those of others. */
export async function eraseKeyPackages(account: AccountId, sliced: Sliced): Promise<void> {
  const each = (slice: (sql: Sql) => Promise<object[]>): Promise<void> =>
    inSlices(sliced, 'more', async (sql) => moreAfter(await slice(sql)))
  await each(
    (sql) => sql`
      DELETE FROM key_packages WHERE id IN (
        SELECT id FROM key_packages WHERE account_id = ${account} LIMIT ${ROWS_PER_SLICE}) RETURNING id`,
  )
  await each(
    (sql) => sql`
      DELETE FROM key_package_claims WHERE claimer_id = ${account} AND account_id IN (
        SELECT account_id FROM key_package_claims WHERE claimer_id = ${account} LIMIT ${ROWS_PER_SLICE})
      RETURNING account_id`,
  )
  await each(
    (sql) => sql`
      DELETE FROM key_package_claims WHERE account_id = ${account} AND claimer_id IN (
        SELECT claimer_id FROM key_package_claims WHERE account_id = ${account} LIMIT ${ROWS_PER_SLICE})
      RETURNING claimer_id`,
  )
  await sliced.storage.transaction(
    (sql) => sql`DELETE FROM key_package_devices WHERE account_id = ${account}`,
  )
}

/**
 * Deletes the key packages of all accounts. Used after a backup was restored, because they may have been
 * given out since it was made. Clients upload new ones.
 */
export async function forgetKeyPackages(storage: Storage): Promise<void> {
  await storage.transaction(async (sql) => {
    await sql`DELETE FROM key_packages`
    await sql`DELETE FROM key_package_devices`
    await sql`DELETE FROM key_package_claims`
  })
}
