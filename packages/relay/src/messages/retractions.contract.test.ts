// The share of retractions in a mailbox, on every engine: which ones are refused, which ones never, and that
// no order of frames stores more rows than the mailbox and the share allow.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { applySteps } from '../storage/migrate.ts'
import { retractions } from '../storage/migrations/retractions.ts'
import { Expiry } from './expiry.ts'
import { closeConversation, openConversation } from './messages.ts'

const DAY_MS = 86_400_000
/** A fifth of 20 messages and a fifth of 10 retractions: what one conversation of these worlds may use. */
const MOST_MESSAGES = 4
const MOST_RETRACTIONS = 2

for (const engine of engines) {
  describe(`retractions on ${engine.name}`, () => {
    let world: MailboxWorld
    beforeEach(async () => {
      world = await openMailboxWorld(engine)
    })
    afterEach(() => world.store.remove())

    const sendDelivered = async (ids: readonly string[]): Promise<void> => {
      const { run, send, receipt, alice, bob } = world
      for (const id of ids) {
        const [ack] = await run(send(alice, bob, id))
        await run(receipt(bob, alice, 'delivered', ack?.type === 'ack' ? ack.seq : 0))
      }
    }
    const retracting = (id: string): Promise<string> => {
      const { refusal, retract, alice, bob } = world
      return refusal(retract(alice, bob, id))
    }
    const countRows = async (): Promise<number> => (await world.waitingFor(world.bob)).length

    test('of delivered and of unknown messages are refused beyond their share, and leave nothing behind', async () => {
      await sendDelivered(['a1', 'a2', 'a3'])
      expect([await retracting('a1'), await retracting('unknown')]).toEqual(['accepted', 'accepted'])
      expect([await retracting('a2'), await retracting('u2')]).toEqual(['MAILBOX_FULL', 'MAILBOX_FULL'])
      expect(await countRows()).toBe(MOST_RETRACTIONS)
      const retracted = await world.store.storage.sql<{ id: string }>`
        SELECT message_id AS id FROM sent_ids WHERE is_retracted = 1 ORDER BY message_id`
      expect(retracted.map(({ id }) => id)).toEqual(['a1', 'unknown'])
      // A repeat of an accepted one is answered again. Messages have room of their own.
      expect(await retracting('a1')).toBe('accepted')
      const { refusal, send, alice, bob } = world
      for (let n = 0; n < MOST_MESSAGES; n++)
        expect(await refusal(send(alice, bob, `m${n}`))).toBe('accepted')
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('are accepted again once earlier ones have arrived', async () => {
      await sendDelivered(['a1', 'a2', 'a3', 'a4'])
      for (const id of ['a1', 'a2']) expect(await retracting(id)).toBe('accepted')
      expect(await retracting('a3')).toBe('MAILBOX_FULL')
      const { reader, bob } = world
      const [first] = await reader.read(bob.id, 0, 1)
      const retractionPosition = first?.position ?? 0
      await reader.confirm(
        bob.id,
        { retractionPosition, noticeIds: new Set(), receipts: new Map() },
        undefined,
      )
      expect([await retracting('a3'), await retracting('a4')]).toEqual(['accepted', 'MAILBOX_FULL'])
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('are accepted again once a receipt covers earlier ones', async () => {
      await sendDelivered(['a1', 'a2', 'a3'])
      for (const id of ['a1', 'a2']) expect(await retracting(id)).toBe('accepted')
      const { run, receipt, bob, alice } = world
      const waiting = await world.waitingFor(bob)
      await run(receipt(bob, alice, 'delivered', Number(waiting[0]?.seq)))
      expect(await retracting('a3')).toBe('accepted')
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('of undelivered messages are never refused, and beyond the share they take the place of messages', async () => {
      const { run, refusal, send, alice, bob } = world
      const ids = Array.from({ length: MOST_MESSAGES }, (_, n) => `m${n}`)
      for (const id of ids) await run(send(alice, bob, id))
      for (const id of ['t1', 't2']) expect(await retracting(id)).toBe('accepted')
      expect(await retracting('t3')).toBe('MAILBOX_FULL')
      for (const id of ids) expect(await retracting(id)).toBe('accepted')
      expect(await countRows()).toBe(MOST_MESSAGES + MOST_RETRACTIONS)
      expect(await refusal(send(alice, bob, 'next'))).toBe('MAILBOX_FULL')
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('of expired messages, and of messages that an unfriending erased, are not of undelivered ones', async () => {
      const { store, run, send, alice, bob, clock } = world
      await run(send(alice, bob, 'old'))
      clock.advance(31 * DAY_MS)
      await new Expiry({ ...world, storage: store.storage, bus: createInProcessBus() }).sweep()
      await run(send(alice, bob, 'gone'))
      await store.storage.transaction((sql) => closeConversation(sql, alice.id, bob.id))
      await store.storage.transaction((sql) => openConversation(sql, alice.id, bob.id, crypto.randomUUID()))
      for (const id of ['t1', 't2']) expect(await retracting(id)).toBe('accepted')
      expect([await retracting('old'), await retracting('gone')]).toEqual(['MAILBOX_FULL', 'MAILBOX_FULL'])
    })

    test('of all conversations of an account share one bound', async () => {
      const { store, alice, bob, carol, retract, refusal } = world
      await store.storage.transaction((sql) => openConversation(sql, bob.id, carol.id, crypto.randomUUID()))
      await store.storage.transaction(
        (sql) => sql`UPDATE mailboxes SET retraction_count = ${world.limits.mailboxRetractions}
          WHERE account_id = ${bob.id}`,
      )
      expect(await retracting('a1')).toBe('MAILBOX_FULL')
      expect(await refusal(retract(bob, alice, 'b1'))).toBe('accepted')
    })

    test('expire like messages, also where nothing else waits', async () => {
      const { store, clock } = world
      const expiry = new Expiry({ ...world, storage: store.storage, bus: createInProcessBus() })
      for (const id of ['t1', 't2']) expect(await retracting(id)).toBe('accepted')
      clock.advance(29 * DAY_MS)
      await expiry.sweep()
      expect(await countRows()).toBe(2)
      clock.advance(2 * DAY_MS)
      await expiry.sweep()
      expect(await countRows()).toBe(0)
      expect(await countsOf(store.storage)).toEqual([])
      expect(await retracting('t3')).toBe('accepted')
    })

    test('that a store held before they were counted are counted by the migration', async () => {
      const { storage } = world.store
      await sendDelivered(['a1'])
      for (const id of ['a1', 't1']) expect(await retracting(id)).toBe('accepted')
      await storage.transaction(async (sql) => {
        await sql`UPDATE lanes SET retraction_count = 0`
        await sql`UPDATE mailboxes SET retraction_count = 0`
        const updates = retractions(storage.engine.dialect).filter((step) =>
          String(step).startsWith('UPDATE'),
        )
        await applySteps(sql, updates)
      })
      expect(await countsOf(storage)).toEqual([])
      expect(await retracting('t2')).toBe('MAILBOX_FULL')
    })

    test('never store more rows than both shares, and one of a stored message is always accepted', async () => {
      const { store, alice, bob, commits, send, retract, receipt } = world
      const step = fc.record({
        do: fc.constantFrom('send', 'send', 'send', 'retract', 'retract', 'delivered', 'renew'),
        id: fc.integer({ min: 1, max: 14 }),
      })
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
          round += 1
          for (const { do: what, id } of steps) {
            const name = `${round}-${id}`
            if (what === 'send') await commits.submit(send(alice, bob, name))
            else if (what === 'delivered') {
              const waiting = await world.waitingFor(bob)
              const seq = Number(waiting[id % 3]?.seq ?? 1)
              await commits.submit(receipt(bob, alice, 'delivered', seq))
            } else if (what === 'renew') {
              await store.storage.transaction((sql) => closeConversation(sql, alice.id, bob.id))
              await store.storage.transaction((sql) => openConversation(sql, alice.id, bob.id, 'unused'))
            } else {
              const stored = await store.storage.sql`
                SELECT seq FROM messages WHERE kind = 0 AND message_id = ${name}`
              const outcome = await commits.submit(retract(alice, bob, name))
              if (stored.length > 0) expect(outcome).toHaveProperty('answers')
            }
            expect(await countRows()).toBeLessThanOrEqual(MOST_MESSAGES + MOST_RETRACTIONS)
          }
          expect(await countsOf(store.storage)).toEqual([])
        }),
        { numRuns: engine.name === 'SQLite' ? 15 : 5 },
      )
    })
  })
}
