// The daily bound of new message ids, on every engine: what counts, what is refused, and what is kept at a
// restart.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ProtocolError } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import type { AccountId } from '../storage/storage.ts'
import { SentIdCounts } from './sent-id-counts.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

for (const engine of engines) {
  describe(`new message ids of a day on ${engine.name}`, () => {
    let world: MailboxWorld
    beforeEach(async () => {
      world = await openMailboxWorld(engine, { sentIdsPerDay: 3, conversationPercent: 100 })
      // 22:00 UTC of some day.
      world.clock.jump(22 * HOUR_MS - (world.clock.now() % DAY_MS))
    })
    afterEach(() => world.store.remove())

    const sending = (id: string): Promise<string> => {
      const { refusal, send, alice, bob } = world
      return refusal(send(alice, bob, id))
    }
    const retracting = (id: string): Promise<string> => {
      const { refusal, retract, alice, bob } = world
      return refusal(retract(alice, bob, id))
    }

    test('are refused beyond the bound until the next day begins in UTC, and leave nothing behind', async () => {
      const { run, send, refusal, clock, alice, bob, store } = world
      expect([await sending('a1'), await sending('a2'), await retracting('t1')]).toEqual(
        Array(3).fill('accepted'),
      )
      const refused = await failureOf(run(send(alice, bob, 'a3')))
      expect(refused).toBeInstanceOf(ProtocolError)
      expect(refused).toMatchObject({
        code: 'RATE_LIMITED',
        details: { limit: 'sentIdsPerDay', retryAfterMs: 2 * HOUR_MS },
      })
      expect([await retracting('t2'), await refusal(send(bob, alice, 'b1'))]).toEqual([
        'RATE_LIMITED',
        'accepted',
      ])
      const ids = await store.storage.sql<{
        id: string
      }>`SELECT message_id AS id FROM sent_ids ORDER BY message_id`
      expect(ids.map(({ id }) => id)).toEqual(['a1', 'a2', 'b1', 't1'])
      expect(await countsOf(store.storage)).toEqual([])
      clock.advance(2 * HOUR_MS)
      // The number after the refused ones: none was used up.
      expect(await run(send(alice, bob, 'a3'))).toMatchObject([{ type: 'ack', seq: 5 }])
    })

    test('do not include repeats, nor retractions of known messages', async () => {
      for (const id of ['a1', 'a2', 'a3']) expect(await sending(id)).toBe('accepted')
      for (let times = 0; times < 5; times++) expect(await sending('a1')).toBe('accepted')
      for (const id of ['a1', 'a2', 'a1']) expect(await retracting(id)).toBe('accepted')
      expect(await sending('a4')).toBe('RATE_LIMITED')
    })

    test('are counted one by one within a batch', async () => {
      const outcomes = await Promise.all(['a1', 'a2', 'a3', 'a4', 'a5'].map(sending))
      expect(outcomes).toEqual(['accepted', 'accepted', 'accepted', 'RATE_LIMITED', 'RATE_LIMITED'])
    })

    test('are not used up by a commit that fails, however often it is tried', async () => {
      const { store } = world
      expect(await sending('a1')).toBe('accepted')
      // The clock stands, so no further id can be stored.
      await store.storage.transaction((sql) => sql`CREATE UNIQUE INDEX only_one ON sent_ids (at)`)
      for (let times = 0; times < 5; times++)
        expect(await failureOf(sending('a2'))).toMatchObject({ code: 'INTERNAL' })
      await store.storage.transaction((sql) => sql`DROP INDEX only_one`)
      expect([await sending('a2'), await sending('a3'), await sending('a4')]).toEqual([
        'accepted',
        'accepted',
        'RATE_LIMITED',
      ])
    })

    test('stay counted after a restart, and the counts of past days are erased', async () => {
      const { store, clock, limits, alice, bob } = world
      const counts = new SentIdCounts({ storage: store.storage, clock, limits })
      const count = (account: typeof alice): void => countOne(counts, account.id, clock.now())
      count(alice)
      await counts.save()
      count(alice)
      count(bob)
      await counts.save()
      await counts.save()
      const later = new SentIdCounts({ storage: store.storage, clock, limits })
      await later.load()
      countOne(later, alice.id, clock.now())
      expect(() => countOne(later, alice.id, clock.now())).toThrow(ProtocolError)
      for (let times = 0; times < 2; times++) countOne(later, bob.id, clock.now())
      expect(() => countOne(later, bob.id, clock.now())).toThrow(ProtocolError)
      clock.advance(DAY_MS)
      await later.save()
      expect(await store.storage.sql`SELECT account_id FROM sent_id_counts`).toEqual([])
      countOne(later, alice.id, clock.now())
    })

    test('of several nodes are added, and each node learns of them', async () => {
      const { store, clock, limits, alice } = world
      const parts = { storage: store.storage, clock, limits }
      const [here, there] = [new SentIdCounts(parts), new SentIdCounts(parts)]
      countOne(here, alice.id, clock.now())
      for (let times = 0; times < 2; times++) countOne(there, alice.id, clock.now())
      await here.save()
      await there.save()
      expect(() => countOne(there, alice.id, clock.now())).toThrow(ProtocolError)
    })

    test('of an account that sends little are not stored', async () => {
      const { store, clock, limits, alice } = world
      const counts = new SentIdCounts({
        storage: store.storage,
        clock,
        limits: { ...limits, sentIdsPerDay: 1000 },
      })
      for (let times = 0; times < 19; times++) countOne(counts, alice.id, clock.now())
      await counts.save()
      expect(await store.storage.sql`SELECT used FROM sent_id_counts`).toEqual([])
      countOne(counts, alice.id, clock.now())
      await counts.save()
      expect(await store.storage.sql<{ used: number }>`SELECT used FROM sent_id_counts`).toEqual([
        { used: 20 },
      ])
    })
  })
}

function countOne(counts: SentIdCounts, account: AccountId, now: number): void {
  const ofCommit = counts.ofCommit()
  ofCommit.count(account, now)
  ofCommit.keep()
}
