// The marks of older clients on every engine: what the store knows of the sender's unread messages, and that
// a retraction or an expiry of the last ones rings the sender.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { engines } from '../../test/engines.ts'
import { type MailboxWorld, openMailboxWorld, type Person } from '../../test/mailbox-world.ts'
import { applySteps } from '../storage/migrate.ts'
import { toldMarks } from '../storage/migrations/told-marks.ts'
import { Expiry } from './expiry.ts'
import { closeConversation, openConversation } from './messages.ts'

const DAY_MS = 86_400_000

for (const engine of engines) {
  describe(`marks on ${engine.name}`, () => {
    let world: MailboxWorld
    beforeEach(async () => {
      world = await openMailboxWorld(engine, { mailboxMessages: 500, mailboxRetractions: 500 })
    })
    afterEach(() => world.store.remove())

    const unreadOf = async (sender: Person): Promise<string | undefined> => {
      const [lane] = await world.store.storage.sql<{ unread_seqs: string }>`
        SELECT unread_seqs FROM lanes WHERE sender_id = ${sender.id}`
      return lane?.unread_seqs
    }
    const ringsTo = (person: Person) =>
      world.rings.flatMap(({ account, ring }) =>
        account === person.id && ring.kind === 'receipt' ? [ring] : [],
      )
    const marksTo = (person: Person) =>
      ringsTo(person).flatMap(({ marks }) =>
        marks.map(({ frame, coversAll }) => ({ ...JSON.parse(frame), coversAll })),
      )

    test('a ring says of each mark whether it covers the sender’s last message as of its commit', async () => {
      const { run, send, receipt, alice, bob, commits } = world
      await run(send(alice, bob, 'a1'))
      await run(send(bob, alice, 'b2'))
      await run(send(alice, bob, 'a3'))
      await run(receipt(bob, alice, 'delivered', 2))
      await run(receipt(bob, alice, 'delivered', 3))
      await run(receipt(bob, alice, 'read', 1))
      // A message of the same commit counts, whatever their order.
      await Promise.all([
        commits.submit(receipt(bob, alice, 'read', 3)),
        commits.submit(send(alice, bob, 'a4')),
      ])
      expect(marksTo(alice)).toMatchObject([
        { type: 'delivered', seq: 2, coversAll: false },
        { type: 'delivered', seq: 3, coversAll: true },
        { type: 'read', seq: 1, coversAll: false },
        { type: 'read', seq: 3, coversAll: false },
      ])
      expect(ringsTo(alice).map(({ lastSeq }) => lastSeq)).toEqual([3, 3, 3, 4])
      expect(await unreadOf(alice)).toBe('4')
    })

    test('a retraction of the last messages rings their sender, if a mark then covers the others', async () => {
      const { run, send, retract, receipt, alice, bob } = world
      for (const id of ['a1', 'a2', 'a3']) await run(send(alice, bob, id))
      await run(receipt(bob, alice, 'delivered', 1))
      const before = ringsTo(alice).length
      await run(retract(alice, bob, 'a2'))
      expect(ringsTo(alice)).toHaveLength(before)
      await run(retract(alice, bob, 'a3'))
      expect(ringsTo(alice).slice(before)).toMatchObject([{ marks: [], hasNewlyCovering: true }])
      expect(await unreadOf(alice)).toBe('1')
      const [waiting] = await world.reader.readReceipts(alice.id)
      expect(waiting?.marks).toMatchObject([{ coversAll: true }])
      await run(retract(alice, bob, 'a1'))
      expect(await unreadOf(alice)).toBe('')
    })

    test('expiry of the last messages rings their sender, too', async () => {
      const { store, bus, clock, run, send, receipt, alice, bob, rings } = world
      const expiry = new Expiry({ ...world, storage: store.storage, bus })
      await run(send(alice, bob, 'a1'))
      await run(send(alice, bob, 'a2'))
      await run(receipt(bob, alice, 'read', 1))
      expect((await world.reader.readReceipts(alice.id))[0]?.marks).toMatchObject([{ coversAll: false }])
      clock.advance(31 * DAY_MS)
      await expiry.sweep()
      expect(await unreadOf(alice)).toBe('')
      // The sender learns first that its message expired.
      expect(rings.slice(-2).map(({ ring }) => ring.kind)).toEqual(['notice', 'receipt'])
      expect(ringsTo(alice).at(-1)).toMatchObject({ marks: [], hasNewlyCovering: true })
      expect((await world.reader.readReceipts(alice.id))[0]?.marks).toMatchObject([{ coversAll: true }])
      // A repeat of the expired message does not make it valid.
      await run(send(alice, bob, 'a2'))
      expect(await unreadOf(alice)).toBe('')
    })

    test('a message that unfriending erased stays unread: no mark before it is true of it', async () => {
      const { store, run, send, receipt, alice, bob } = world
      await run(send(alice, bob, 'a1'))
      await run(send(alice, bob, 'a2'))
      await store.storage.transaction((sql) => closeConversation(sql, alice.id, bob.id))
      await run(receipt(bob, alice, 'read', 1))
      expect(marksTo(alice)).toMatchObject([{ type: 'read', seq: 1, coversAll: false }])
      await store.storage.transaction((sql) => openConversation(sql, alice.id, bob.id, crypto.randomUUID()))
      expect(await unreadOf(alice)).toBe('2')
    })

    test('a store of an older relay is given the last unread message of each sender', async () => {
      const { run, send, retract, receipt, alice, bob, store } = world
      const { storage } = store
      for (const id of ['a1', 'a2', 'a3', 'a4']) await run(send(alice, bob, id))
      await run(retract(alice, bob, 'a4'))
      await run(receipt(bob, alice, 'delivered', 2))
      await run(send(bob, alice, 'b6'))
      await run(receipt(alice, bob, 'read', 6))
      const migrateAgain = () =>
        storage.transaction(async (sql) => {
          await sql`UPDATE lanes SET unread_seqs = ''`
          const updates = toldMarks(storage.engine.dialect).filter((step) =>
            String(step).startsWith('UPDATE'),
          )
          expect(updates).toHaveLength(2)
          await applySteps(sql, updates)
        })
      await migrateAgain()
      expect([await unreadOf(alice), await unreadOf(bob)]).toEqual(['<3', ''])
      // If the ids are forgotten, everything was delivered long ago.
      await storage.transaction((sql) => sql`DELETE FROM sent_ids`)
      await migrateAgain()
      expect([await unreadOf(alice), await unreadOf(bob)]).toEqual(['<2', ''])
    })

    test('after any batches the last unread seq is that of the last message that is not read or retracted', async () => {
      const command = fc.record({
        do: fc.constantFrom('send', 'send', 'send', 'retract', 'delivered', 'read'),
        by: fc.boolean(),
        n: fc.integer({ min: 1, max: 8 }),
      })
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(command, { maxLength: 6 }), { maxLength: 6 }), async (batches) => {
          round += 1
          const { store, commits, send, retract, receipt, alice, bob } = world
          for (const batch of batches) {
            await Promise.all(
              batch.map(({ do: what, by, n }) => {
                const [from, to] = by ? [alice, bob] : [bob, alice]
                const id = `${from.alias}-${round}-${n}`
                if (what === 'send') return commits.submit(send(from, to, id))
                if (what === 'retract') return commits.submit(retract(from, to, id))
                return commits.submit(
                  receipt(from, to, what === 'read' ? 'read' : 'delivered', n + round * 3),
                )
              }),
            )
          }
          for (const sender of [alice, bob]) {
            const [lane] = await store.storage.sql<{ read_seq: number; unread_seqs: string }>`
              SELECT read_seq, unread_seqs FROM lanes WHERE sender_id = ${sender.id}`
            const valid = await store.storage.sql<{ seq: number }>`
              SELECT seq FROM sent_ids WHERE sender_id = ${sender.id} AND is_retracted = 0
                AND seq > ${lane?.read_seq ?? 0} ORDER BY seq`
            const listed = (lane?.unread_seqs ?? '').split(',').filter((item) => item !== '')
            const bound = listed[0]?.startsWith('<') ? Number(listed[0].slice(1)) : 0
            const numbers = listed.filter((item) => !item.startsWith('<')).map(Number)
            expect(numbers).toEqual(valid.map(({ seq }) => seq).filter((seq) => seq > bound))
          }
        }),
        { numRuns: engine.name === 'SQLite' ? 40 : 15 },
      )
    })
  })
}
