// Giving out key packages: to the friend of an account, each once, and not so many that a friend could use
// them up.
import { type ConversationId, ProtocolError } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { AccountId, Sql } from '../storage/storage.ts'
import { countWaiting, type KeyPackageRules } from './devices.ts'

const DAY_MS = 86_400_000
/** A device that has fewer packages than this after a claim is told. */
const FEW_PACKAGES = 20

/** A package that is given out. */
interface Claimed {
  readonly device: string
  readonly id: string
  readonly package: string
  readonly is_last_resort: boolean
}

/** What a claim took. */
export interface Claim {
  readonly owner: AccountId
  readonly packages: readonly Claimed[]
  /** The devices of the owner that need more packages, and how many each has left. */
  readonly few: readonly { readonly device: string; readonly left: number }[]
}

/**
 * Takes one package of each device of the other account of an open conversation, the oldest. An account that
 * has claimed often enough today gets last resorts instead. A device that has nothing to give is left out.
 * @throws ProtocolError `NOT_FOUND` if the account cannot write in the conversation, `NO_KEY_PACKAGES`
 */
export async function claimKeyPackages(
  sql: Sql,
  claimer: AccountId,
  conversation: ConversationId,
  { clock, limits }: KeyPackageRules,
): Promise<Claim> {
  const owner = await findOther(sql, claimer, conversation)
  // The lock of the owner makes claims of its packages come one after the other.
  const exist = owner !== undefined && (await lockAccounts(sql, [claimer, owner]))
  // The friendship may have ended while this transaction waited for the lock.
  if (!exist || (await findOther(sql, claimer, conversation)) !== owner) throw new ProtocolError('NOT_FOUND')
  const now = clock.now()
  const day = Math.floor(now / DAY_MS)
  const isOftenEnough = (await claimsOn(sql, { claimer, owner, day })) >= limits.keyPackageClaims
  const devices = await sql<{ device: string }>`
    SELECT device FROM key_package_devices WHERE account_id = ${owner} ORDER BY uploaded_at DESC, device`
  const packages: Claimed[] = []
  const few: { device: string; left: number }[] = []
  for (const { device } of devices) {
    const taken = isOftenEnough ? undefined : await takeOldest(sql, owner, device, now)
    const given = taken ?? (await readLastResort(sql, owner, device))
    if (given) packages.push(given)
    if (isOftenEnough) continue
    const { count: left } = await countWaiting(sql, owner, device, now)
    if (left < FEW_PACKAGES) few.push({ device, left })
  }
  if (packages.length === 0) throw new ProtocolError('NO_KEY_PACKAGES')
  if (packages.some(({ is_last_resort }) => !is_last_resort)) await countClaim(sql, { claimer, owner, day })
  return { owner, packages, few }
}

async function findOther(
  sql: Sql,
  account: AccountId,
  conversation: ConversationId,
): Promise<AccountId | undefined> {
  const [row] = await sql<{ other: AccountId }>`
    SELECT CASE WHEN low_id = ${account} THEN high_id ELSE low_id END AS other FROM conversations
    WHERE conv_id = ${conversation} AND is_open = 1 AND (low_id = ${account} OR high_id = ${account})`
  return row?.other
}

interface PairOnDay {
  readonly claimer: AccountId
  readonly owner: AccountId
  readonly day: number
}

async function claimsOn(sql: Sql, { claimer, owner, day }: PairOnDay): Promise<number> {
  const [row] = await sql<{ claims: number }>`
    SELECT claims FROM key_package_claims
    WHERE claimer_id = ${claimer} AND account_id = ${owner} AND day = ${day}`
  return row?.claims ?? 0
}

async function countClaim(sql: Sql, { claimer, owner, day }: PairOnDay): Promise<void> {
  await sql`
    INSERT INTO key_package_claims (claimer_id, account_id, day, claims) VALUES (${claimer}, ${owner}, ${day}, 1)
    ON CONFLICT (claimer_id, account_id) DO UPDATE SET
      claims = CASE WHEN key_package_claims.day = ${day} THEN key_package_claims.claims + 1 ELSE 1 END,
      day = ${day}`
}

interface PackageRow {
  readonly id: number
  readonly package_id: string
  readonly package: string
}

async function takeOldest(
  sql: Sql,
  owner: AccountId,
  device: string,
  now: number,
): Promise<Claimed | undefined> {
  const [row] = await sql<PackageRow>`
    SELECT id, package_id, package FROM key_packages
    WHERE account_id = ${owner} AND device = ${device} AND is_given = 0 AND is_last_resort = 0
      AND expires_at > ${now}
    ORDER BY id LIMIT 1`
  if (!row) return undefined
  await sql`UPDATE key_packages SET package = '', is_given = 1 WHERE id = ${row.id}`
  return { device, id: row.package_id, package: row.package, is_last_resort: false }
}

async function readLastResort(sql: Sql, owner: AccountId, device: string): Promise<Claimed | undefined> {
  const [row] = await sql<PackageRow>`
    SELECT id, package_id, package FROM key_packages
    WHERE account_id = ${owner} AND device = ${device} AND is_last_resort = 1`
  if (!row) return undefined
  await sql`UPDATE key_packages SET is_given = 1 WHERE id = ${row.id} AND is_given = 0`
  return { device, id: row.package_id, package: row.package, is_last_resort: true }
}
