// Logging out everywhere, on both engines: what it writes, and how a node finds a logout it was not told of.
import { afterEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import type { Ring } from '../cluster/bus.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import { addAccount, findAccount } from './accounts.ts'
import { LogoutWatch, logOutEverywhere } from './logouts.ts'

for (const engine of engines) {
  describe(`logging out everywhere on ${engine.name}`, () => {
    let store: TestStore | undefined
    afterEach(async () => {
      await store?.remove()
    })

    /** Two accounts and a node: its bus and its watch. `time.now` is the time. */
    async function world() {
      store = await engine.open()
      const { storage } = store
      const time = { now: 1_800_000_000_000 }
      const clock = { now: () => time.now, monotonic: () => 0 }
      const accounts: AccountId[] = []
      for (const name of ['alice', 'bob']) {
        await storage.transaction(async (sql) => {
          const keys = { ed25519PublicKey: `${name} signs`, x25519PublicKey: `${name} agrees` }
          await addAccount(sql, { ...keys, nickname: name }, { clock, randomBytes: systemRandom })
          const [row] = await sql<{ id: AccountId }>`SELECT id FROM accounts WHERE nickname = ${name}`
          if (row) accounts.push(row.id)
        })
      }
      const [alice, bob] = accounts
      if (alice === undefined || bob === undefined) throw new Error('an account is missing')
      const bus = createInProcessBus()
      const rings: [AccountId, Ring][] = []
      bus.listen((account, ring) => rings.push([account, ring]))
      const parts = { storage, bus, clock }
      const logOutElsewhere = (account: AccountId): Promise<void> =>
        logOutEverywhere(account, { ...parts, bus: createInProcessBus() })
      return { storage, time, alice, bob, rings, parts, logOutElsewhere, watch: new LogoutWatch(parts) }
    }

    test('each logout has a later time than the one before, also if the clock stands or goes back', async () => {
      const { storage, time, alice, bob, parts, rings } = await world()
      const times: number[] = []
      for (const now of [time.now, time.now, time.now - 86_400_000, time.now + 5]) {
        time.now = now
        await logOutEverywhere(alice, parts)
        times.push((await findAccount(storage.sql, alice))?.logged_out_at ?? 0)
      }
      expect(times).toEqual([0, 1, 2, 5].map((later) => 1_800_000_000_000 + later))
      expect((await findAccount(storage.sql, bob))?.logged_out_at).toBe(0)
      expect(rings).toEqual(
        times.map((at) => [alice, { kind: 'logged_out', exceptTokensEndingIn: `.${at}` }]),
      )
    })

    test('a node finds a logout that it was not told of', async () => {
      const { time, alice, bob, rings, logOutElsewhere, watch } = await world()
      await watch.check()
      expect(rings).toEqual([])
      time.now += 1000
      await logOutElsewhere(bob)
      await watch.check()
      expect(rings).toEqual([[bob, { kind: 'logged_out', exceptTokensEndingIn: '.1800000001000' }]])
      // Another machine's clock is half an hour behind.
      time.now += 60_000 - 1_800_000
      await logOutElsewhere(alice)
      time.now += 1_800_000
      await watch.check()
      expect(rings.slice(1).map(([account]) => account)).toContain(alice)
      // Old ones are not told for ever.
      time.now += 2 * 3_600_000
      await watch.check()
      rings.length = 0
      await watch.check()
      expect(rings).toEqual([])
    })

    test('a deleted account is not logged out', async () => {
      const { storage, alice, parts, rings } = await world()
      await storage.transaction((sql) => sql`UPDATE accounts SET deleted_at = 1 WHERE id = ${alice}`)
      await logOutEverywhere(alice, parts)
      expect(rings).toEqual([])
    })
  })
}
