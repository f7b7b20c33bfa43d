// Key packages of one account's devices: adding, counting and deleting them. The relay cannot read them.
import { type Limits, ProtocolError, type UploadKeyPackagesBody } from '@sotto/protocol'
import { lockAccounts } from '../accounts/accounts.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql } from '../storage/storage.ts'

const DAY_MS = 86_400_000

/** What the rules of key packages need. */
export interface KeyPackageRules {
  readonly clock: Clock
  readonly limits: Pick<Limits, 'keyPackages' | 'keyPackageDevices' | 'keyPackageDays' | 'keyPackageClaims'>
}

/** What a device has at the relay. */
interface DeviceCount {
  readonly device: string
  /** Packages that can be given out, without the last resort. */
  readonly count: number
  /** When the first of them expires, in milliseconds since 1970; null if there is none. */
  readonly expires_at: number | null
  readonly has_last_resort: boolean
}

/**
 * Adds packages of a device. An id that the account has used before changes nothing, so an upload can be
 * repeated. A new device beyond the limit replaces the one that uploaded longest ago.
 * @returns what the device has now
 * @throws ProtocolError `TOO_MANY_KEY_PACKAGES`, `INVALID_FIELD` or `TOKEN_DEAD`; then nothing is stored
 */
export async function uploadKeyPackages(
  sql: Sql,
  account: AccountId,
  { device, packages, last_resort: lastResort }: UploadKeyPackagesBody,
  rules: KeyPackageRules,
): Promise<DeviceCount> {
  const { clock, limits } = rules
  const now = clock.now()
  if (packages.length === 0 && !lastResort)
    throw new ProtocolError('INVALID_FIELD', {
      field: 'packages',
      rule: 'must not be empty without last_resort',
    })
  const ends = packages.map(({ expires_at }, index) =>
    endOf(expires_at, index, { now, days: limits.keyPackageDays }),
  )
  if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
  await sql`
    INSERT INTO key_package_devices (account_id, device, uploaded_at) VALUES (${account}, ${device}, ${now})
    ON CONFLICT (account_id, device) DO UPDATE SET uploaded_at = ${now}`
  for (const [index, each] of packages.entries())
    await sql`
      INSERT INTO key_packages (account_id, device, package_id, package, is_last_resort, is_given, expires_at)
      VALUES (${account}, ${device}, ${each.id}, ${each.package}, 0, 0, ${ends[index] ?? now})
      ON CONFLICT (account_id, package_id) DO NOTHING`
  if (lastResort) await replaceLastResort(sql, { account, device, ...lastResort }, rules)
  const kept = await countOf(sql, account, device, now)
  if (kept.count > limits.keyPackages) throw new ProtocolError('TOO_MANY_KEY_PACKAGES')
  const older = await sql<{ device: string }>`
    SELECT device FROM key_package_devices WHERE account_id = ${account} AND device <> ${device}
    ORDER BY uploaded_at DESC, device LIMIT 1000 OFFSET ${limits.keyPackageDevices - 1}`
  for (const each of older) await forgetDevice(sql, account, each.device, rules)
  return kept
}

/** An account's devices, the one that uploaded last first. */
export async function listDevices(sql: Sql, account: AccountId, now: number): Promise<DeviceCount[]> {
  const devices = await sql<{ device: string }>`
    SELECT device FROM key_package_devices WHERE account_id = ${account} ORDER BY uploaded_at DESC, device`
  const counts: DeviceCount[] = []
  for (const { device } of devices) counts.push(await countOf(sql, account, device, now))
  return counts
}

/**
 * Deletes what a device of an account has. Nothing changes if there is none.
 * @throws ProtocolError `TOKEN_DEAD`
 */
export async function deleteDevice(
  sql: Sql,
  account: AccountId,
  device: string,
  rules: KeyPackageRules,
): Promise<void> {
  if (!(await lockAccounts(sql, [account]))) throw new ProtocolError('TOKEN_DEAD')
  await forgetDevice(sql, account, device, rules)
}

/** How many packages of a device can be given out, without its last resort. */
export async function countWaiting(
  sql: Sql,
  account: AccountId,
  device: string,
  now: number,
): Promise<{ count: number; expires_at: number | null }> {
  const [row] = await sql<{ count: number; expires_at: number | null }>`
    SELECT COUNT(*) AS count, MIN(expires_at) AS expires_at FROM key_packages
    WHERE account_id = ${account} AND device = ${device} AND is_given = 0 AND is_last_resort = 0
      AND expires_at > ${now}`
  return row ?? { count: 0, expires_at: null }
}

async function countOf(sql: Sql, account: AccountId, device: string, now: number): Promise<DeviceCount> {
  const last = await sql<{ id: number }>`
    SELECT id FROM key_packages WHERE account_id = ${account} AND device = ${device} AND is_last_resort = 1`
  return { device, ...(await countWaiting(sql, account, device, now)), has_last_resort: last.length > 0 }
}

function endOf(expiresAt: string, index: number, { now, days }: { now: number; days: number }): number {
  const end = Date.parse(expiresAt)
  if (end > now && end <= now + days * DAY_MS) return end
  throw new ProtocolError('INVALID_FIELD', {
    field: `packages.${index}.expires_at`,
    rule: `must be in the future, at most ${days} days ahead`,
  })
}

async function replaceLastResort(
  sql: Sql,
  next: { account: AccountId; device: string; id: string; package: string },
  rules: KeyPackageRules,
): Promise<void> {
  const { account, device, id } = next
  const known = await sql<{ id: number }>`
    SELECT id FROM key_packages WHERE account_id = ${account} AND package_id = ${id}`
  if (known.length > 0) return
  await retireLastResort(sql, account, device, rules)
  await sql`
    INSERT INTO key_packages (account_id, device, package_id, package, is_last_resort, is_given, expires_at)
    VALUES (${account}, ${device}, ${id}, ${next.package}, 1, 0, NULL)`
}

// Its id is kept if somebody has it, as long as the id of any other package.
async function retireLastResort(
  sql: Sql,
  account: AccountId,
  device: string,
  { clock, limits }: KeyPackageRules,
): Promise<void> {
  await sql`
    DELETE FROM key_packages
    WHERE account_id = ${account} AND device = ${device} AND is_last_resort = 1 AND is_given = 0`
  await sql`
    UPDATE key_packages
    SET package = '', is_last_resort = 0, expires_at = ${clock.now() + limits.keyPackageDays * DAY_MS}
    WHERE account_id = ${account} AND device = ${device} AND is_last_resort = 1`
}

async function forgetDevice(
  sql: Sql,
  account: AccountId,
  device: string,
  rules: KeyPackageRules,
): Promise<void> {
  await sql`
    DELETE FROM key_packages
    WHERE account_id = ${account} AND device = ${device} AND is_given = 0 AND is_last_resort = 0`
  await retireLastResort(sql, account, device, rules)
  await sql`DELETE FROM key_package_devices WHERE account_id = ${account} AND device = ${device}`
}
