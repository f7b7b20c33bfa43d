// Suspensions in the store, on both engines: which of them end by themselves.
import { afterEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import { addAccount, suspend } from '../accounts/accounts.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import { liftEnded } from './suspending.ts'

const NOW = 1_800_000_000_000
const clock = { now: () => NOW, monotonic: () => 0 }

for (const engine of engines) {
  describe(`suspensions on ${engine.name}`, () => {
    let store: TestStore | undefined
    afterEach(() => store?.remove())

    test('only those end whose time is over, also if the operator prolongs one in that moment', async () => {
      store = await engine.open()
      const { storage } = store
      const add = async (nickname: string, ends_at: number | null): Promise<AccountId> => {
        const keys = { ed25519PublicKey: `signs ${nickname}`, x25519PublicKey: 'agrees' }
        const parts = { clock, randomBytes: systemRandom }
        await storage.transaction((sql) => addAccount(sql, { ...keys, nickname }, parts))
        const [row] = await storage.sql<{ id: AccountId }>`
          SELECT id FROM accounts WHERE nickname = ${nickname}`
        if (!row) throw new Error('the account is missing')
        await suspendUntil(row.id, ends_at)
        return row.id
      }
      const suspendUntil = (account: AccountId, ends_at: number | null): Promise<void> =>
        storage.transaction((sql) => suspend(sql, account, { since: NOW - 1000, reason: 'Spam', ends_at }))
      await add('over', NOW)
      const lasting = [await add('later', NOW + 1), await add('for good', null)]
      const prolonged = await add('prolonged', NOW - 1)
      // The operator's command comes between the reading of those that are over and the first lifting.
      let isPending = true
      const late: Storage = {
        ...storage,
        sql: storage.sql,
        transaction: async (work) => {
          if (isPending) {
            isPending = false
            await suspendUntil(prolonged, NOW + 1000)
          }
          return await storage.transaction(work)
        },
      }
      await liftEnded({ storage: late, bus: createInProcessBus(), clock })
      const rows = await storage.sql<{ account_id: AccountId }>`
        SELECT account_id FROM suspensions ORDER BY account_id`
      expect(rows.map(({ account_id }) => account_id)).toEqual([...lasting, prolonged])
    })
  })
}
