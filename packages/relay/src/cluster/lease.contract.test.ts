// The lease on both engines: one turn at a time, and a turn that is over writes nothing.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../../test/chain-shop.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import { type Turn, TurnOver } from '../operations/turns.ts'
import type { Storage } from '../storage/storage.ts'
import { Lease } from './lease.ts'

/** A machine that stops for some seconds loses no turn that lasts so long. */
const LONG_MS = 60_000

for (const engine of engines) {
  describe(`a lease on ${engine.name}`, () => {
    let store: TestStore
    const endings: (() => Promise<unknown>)[] = []
    beforeEach(async () => {
      store = await engine.open()
    })
    afterEach(async () => {
      for (const end of endings.splice(0).reverse()) await end()
      await store.remove()
    })

    const leaseOf = (storage: Storage, lifeMs = LONG_MS): Lease => {
      const parts = { storage, lifeMs, clock: systemClock, randomBytes: systemRandom }
      const lease = new Lease('work', { ...parts, log: createLog('silent') })
      endings.push(() => lease.stop())
      return lease
    }
    const write = (turn: Turn, name: string): Promise<unknown> =>
      turn.storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES (${name}, '1')`)
    const written = async (): Promise<string[]> => {
      const rows = await store.storage.sql<{ name: string }>`
        SELECT name FROM relay_state WHERE name LIKE 'by %' ORDER BY name`
      return rows.map(({ name }) => name)
    }
    const turnOf = ({ current }: Lease): Turn => {
      if (!current) throw new Error('it has no turn')
      return current
    }

    test('a turn lasts from the start to the stop, which waits for the work', async () => {
      const lease = leaseOf(store.storage)
      const ended: string[] = []
      lease.inEach(async (turn) => {
        const over = new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
        await write(turn, 'by work')
        await over
        await new Promise((resolve) => setImmediate(resolve))
        ended.push('work')
      })
      await lease.start()
      await write(turnOf(lease), 'by start')
      await until('the work has written', async () => (await written()).length === 2)
      await lease.stop()
      expect(ended).toEqual(['work'])
      expect(lease.current).toBeUndefined()
      expect(await written()).toEqual(['by start', 'by work'])
    })

    if (engine.name === 'SQLite') {
      test('nothing is written', async () => {
        const lease = leaseOf(store.storage)
        await lease.start()
        await lease.stop()
        expect(await store.storage.sql`SELECT * FROM leases`).toEqual([])
      })
      return
    }

    const twoNodes = async (lifeMs?: number): Promise<[Lease, Lease]> => {
      const other = await store.reopen()
      endings.push(() => other.close())
      return [leaseOf(store.storage, lifeMs), leaseOf(other, lifeMs)]
    }
    const endInStore = () => store.storage.transaction((sql) => sql`UPDATE leases SET ends_at = 1`)

    test('one of many nodes that start together has the turn', async () => {
      const other = await store.reopen()
      endings.push(() => other.close())
      const leases = Array.from({ length: 8 }, (_, index) => leaseOf(index % 2 ? other : store.storage))
      await Promise.all(leases.map((lease) => lease.start()))
      expect(leases.filter(({ current }) => current).length).toBe(1)
    })

    test('after a clean stop another node has the turn, without waiting for its end', async () => {
      const [first, second] = await twoNodes()
      await first.start()
      await first.stop()
      await second.start()
      expect(second.current).toBeDefined()
    })

    test('a turn that is over fails its next transaction, ends, and has written nothing', async () => {
      const [first, second] = await twoNodes()
      await first.start()
      const turn = turnOf(first)
      await write(turn, 'by first')
      await endInStore()
      await second.start()
      expect(await failureOf(write(turn, 'by first again'))).toBeInstanceOf(TurnOver)
      expect(turn.signal.aborted).toBe(true)
      expect(first.current).toBeUndefined()
      await write(turnOf(second), 'by second')
      expect(await written()).toEqual(['by first', 'by second'])
    })

    test('the next turn of the same node is another turn', async () => {
      const [first, second] = await twoNodes()
      await first.start()
      const turn = turnOf(first)
      await endInStore()
      await second.start()
      await second.stop()
      const third = leaseOf(store.storage)
      await third.start()
      expect(await failureOf(write(turn, 'by first'))).toBeInstanceOf(TurnOver)
      const [row] = await store.storage.sql<{ fence: number }>`SELECT fence FROM leases`
      expect(row?.fence).toBe(3)
    })

    test('a turn waits for a transaction of the turn before', async () => {
      const [first, second] = await twoNodes()
      await first.start()
      const entered = Promise.withResolvers<void>()
      const leave = Promise.withResolvers<void>()
      const writing = turnOf(first).storage.transaction(async (sql) => {
        entered.resolve()
        await leave.promise
        await sql`INSERT INTO relay_state (name, value) VALUES ('by first', '1')`
      })
      await entered.promise
      await endInStore() // Does not wait, so neither do renewals.
      const starting = second.start()
      try {
        await until('the second one waits', async () => {
          const waiting = await store.storage.sql<{ pid: number }>`
            SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
          return waiting.length > 0
        })
        expect(second.current).toBeUndefined()
      } finally {
        leave.resolve()
      }
      await writing
      await starting
      expect(second.current).toBeDefined()
      expect(await written()).toEqual(['by first'])
    })

    test('turns are renewed, and one that cannot be renewed ends by itself', async () => {
      const [first] = await twoNodes(3000)
      await first.start()
      const endsAt = async () =>
        (await store.storage.sql<{ ends_at: number }>`SELECT ends_at FROM leases`)[0]?.ends_at ?? 0
      const before = await endsAt()
      // A machine that is busy for three seconds lets it end and begin again.
      await until('it is renewed', async () => (await endsAt()) > before && first.current !== undefined)
      const turn = turnOf(first)
      const { signal } = turn
      const ended = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await store.storage.transaction((sql) => sql`ALTER TABLE leases RENAME TO leases_away`)
      await ended
      expect(await failureOf(write(turn, 'by first'))).toBeInstanceOf(Error)
      await store.storage.transaction((sql) => sql`ALTER TABLE leases_away RENAME TO leases`)
      await until('it begins again', () => first.current !== undefined)
    })

    test('a turn that ends later than any can was set before the clock was set back, and is over', async () => {
      const [first, second] = await twoNodes()
      await first.start()
      await store.storage.transaction((sql) => sql`UPDATE leases SET ends_at = ends_at + 3600000`)
      await second.start()
      expect(second.current).toBeDefined()
    })
  })
}
