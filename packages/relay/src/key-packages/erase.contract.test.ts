// What erases key packages, on every engine: the sweep, the deletion of an account, and a restored backup.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import type { AccountId } from '../storage/storage.ts'
import { eraseKeyPackages, forgetKeyPackages, sweepKeyPackages } from './key-packages.ts'

const DAY_MS = 86_400_000
const [OWNER, OTHER] = [1 as AccountId, 2 as AccountId]
/** More than two slices. */
const MANY = 250
const TABLES = ['key_packages', 'key_package_devices', 'key_package_claims'] as const

for (const engine of engines) {
  describe(`key packages on ${engine.name}`, () => {
    let store: TestStore
    beforeEach(async () => {
      store = await engine.open()
    })
    afterEach(() => store.remove())

    const add = (account: AccountId, count: number, expiresAt: number | null): Promise<void> =>
      store.storage.transaction(async (sql) => {
        await sql`
          INSERT INTO key_package_devices (account_id, device, uploaded_at) VALUES (${account}, 'd', 0)
          ON CONFLICT DO NOTHING`
        for (let n = 0; n < count; n++)
          await sql`
            INSERT INTO key_packages (account_id, device, package_id, package, is_last_resort, is_given, expires_at)
            VALUES (${account}, 'd', ${`${expiresAt} ${n}`}, 'AAAA', ${expiresAt === null ? 1 : 0}, 0, ${expiresAt})`
      })
    const addClaims = (claimer: AccountId, of: AccountId, count: number, day: number): Promise<void> =>
      store.storage.transaction(async (sql) => {
        for (let n = 0; n < count; n++)
          await sql`
            INSERT INTO key_package_claims (claimer_id, account_id, day, claims)
            VALUES (${claimer + n * 10}, ${of}, ${day}, 1)`
      })
    const counts = async (): Promise<number[]> => {
      const { sql } = store.storage
      const [row] = await sql<Record<(typeof TABLES)[number], number>>`
        SELECT (SELECT COUNT(*) FROM key_packages) AS key_packages,
          (SELECT COUNT(*) FROM key_package_devices) AS key_package_devices,
          (SELECT COUNT(*) FROM key_package_claims) AS key_package_claims`
      return TABLES.map((table) => row?.[table] ?? -1)
    }
    const sliced = () => ({ storage: store.storage, signal: new AbortController().signal })

    test('the sweep takes all that has expired, and the counts of past days, and nothing else', async () => {
      const now = 100 * DAY_MS
      await add(OWNER, MANY, now)
      await add(OWNER, 3, now + 1)
      await add(OWNER, 1, null)
      await addClaims(OTHER, OWNER, MANY, 99)
      await addClaims(3 as AccountId, OWNER, 2, 100)
      await sweepKeyPackages(sliced(), now)
      expect(await counts()).toEqual([4, 1, 2])
    })

    test('a deleted account leaves nothing, and others lose nothing but their claims of it', async () => {
      for (const account of [OWNER, OTHER]) {
        await add(account, MANY, 1)
        await add(account, 1, null)
      }
      await addClaims(OWNER, OTHER, 1, 1)
      await addClaims(OTHER, OWNER, MANY, 1)
      await addClaims(3 as AccountId, OTHER, 2, 1)
      await eraseKeyPackages(OWNER, sliced())
      expect(await counts()).toEqual([MANY + 1, 1, 2])
      await eraseKeyPackages(OWNER, sliced()) // Again is harmless.
      expect(await counts()).toEqual([MANY + 1, 1, 2])
    })

    test('after a backup was restored there are none', async () => {
      for (const account of [OWNER, OTHER]) await add(account, 3, 1)
      await addClaims(OTHER, OWNER, 1, 1)
      await forgetKeyPackages(store.storage)
      expect(await counts()).toEqual([0, 0, 0])
    })
  })
}
