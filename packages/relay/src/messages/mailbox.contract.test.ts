// The mailbox's promises on every engine: which frames are accepted, in which order messages are read, and
// that the stored counts always equal the number of stored messages.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ProtocolError, type RelayFrame } from '@sotto/protocol'
import fc from 'fast-check'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import { closeConversation, eraseMailbox, moveSequencesAhead, openConversation } from './messages.ts'

for (const engine of engines) {
  describe(`mailbox on ${engine.name}`, () => {
    let world: MailboxWorld
    let store: MailboxWorld['store']
    let clock: MailboxWorld['clock']
    let alice: MailboxWorld['alice']
    let bob: MailboxWorld['bob']
    let carol: MailboxWorld['carol']
    let conv: MailboxWorld['conv']
    let rings: MailboxWorld['rings']
    let commits: MailboxWorld['commits']
    let reader: MailboxWorld['reader']
    let run: MailboxWorld['run']
    let refusal: MailboxWorld['refusal']
    let send: MailboxWorld['send']
    let retract: MailboxWorld['retract']
    let receipt: MailboxWorld['receipt']
    let waitingFor: MailboxWorld['waitingFor']

    beforeEach(async () => {
      world = await openMailboxWorld(engine)
      ;({
        store,
        clock,
        alice,
        bob,
        carol,
        conv,
        rings,
        commits,
        reader,
        run,
        refusal,
        send,
        retract,
        receipt,
        waitingFor,
      } = world)
    })
    afterEach(() => world.store.remove())

    /** Alice's client has certainly got these marks; if none are given, all that wait. */
    async function confirmMarks(waiting?: Awaited<ReturnType<typeof reader.readReceipts>>): Promise<void> {
      const arrived = waiting ?? (await reader.readReceipts(alice.id))
      const receipts = new Map(
        arrived.map(({ conversation, toldRound, marks }) => [
          conversation,
          {
            toldRound,
            deliveredSeq: Math.max(...marks.map((mark) => mark.deliveredSeq)),
            readSeq: Math.max(...marks.map((mark) => mark.readSeq)),
          },
        ]),
      )
      await reader.confirm(alice.id, { receipts, retractionPosition: 0, noticeIds: new Set() }, undefined)
    }

    test('both sides share one counter, and messages are read in its order', async () => {
      await Promise.all([
        run(send(alice, bob, 'a1')),
        run(send(bob, alice, 'b1')),
        run(send(alice, bob, 'a2')),
      ])
      expect(await waitingFor(bob)).toMatchObject([
        { id: 'a1', seq: 1, from: alice.alias, to: bob.alias },
        { id: 'a2', seq: 3, from: alice.alias },
      ])
      expect(await waitingFor(alice)).toMatchObject([{ id: 'b1', seq: 2 }])
    })

    test('a repeat gets the same seq and at and is stored once, within a batch and after it', async () => {
      const [first, twin] = await Promise.all([
        run(send(alice, bob, 'a1')),
        run(send(alice, bob, 'a1', 'BBBB')),
      ])
      clock.advance(5000)
      const later = await run(send(alice, bob, 'a1', 'CCCC'))
      expect(twin).toEqual(first)
      expect(later).toEqual(first)
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a1', payload: 'AAAA' }])
    })

    test('a repeat is recognised after delivery, and its commit resets the told marks', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'read', 1))
      await confirmMarks()
      expect(await reader.readReceipts(alice.id)).toEqual([])
      expect(await run(send(alice, bob, 'a1'))).toMatchObject([{ type: 'ack', seq: 1 }])
      expect(await waitingFor(bob)).toEqual([])
      const waiting = await reader.readReceipts(alice.id)
      expect(waiting).toMatchObject([{ toldRound: 1, marks: [{ deliveredSeq: 1, readSeq: 1 }] }])
    })

    test('a confirmation of marks that were sent before a repeat does not count', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'read', 1))
      const before = await reader.readReceipts(alice.id)
      await run(send(alice, bob, 'a1'))
      await confirmMarks(before)
      expect(await reader.readReceipts(alice.id)).toHaveLength(1)
      await confirmMarks()
      expect(await reader.readReceipts(alice.id)).toEqual([])
    })

    test('many repeats in one commit reset the told marks once', async () => {
      await run(send(alice, bob, 'a1'))
      await Promise.all(Array.from({ length: 50 }, () => run(send(alice, bob, 'a1'))))
      const [lane] = await store.storage.sql<{ told_round: number }>`
        SELECT told_round FROM lanes WHERE sender_id = ${alice.id}`
      expect(lane?.told_round).toBe(1)
    })

    test('`at` does not decrease when the clock is set back', async () => {
      const [before] = await run(send(alice, bob, 'a1'))
      clock.advance(-60_000)
      const [after] = await run(send(alice, bob, 'a2'))
      expect(after).toMatchObject({ at: (before as { at: number }).at })
    })

    test('only friends can send, and only in their conversation', async () => {
      expect(await refusal(send(alice, carol, 'x1'))).toBe('NOT_FRIENDS')
      expect(await refusal(send(carol, bob, 'x2'))).toBe('NOT_FRIENDS')
      expect(await refusal(send(alice, bob, 'x3', 'AAAA', crypto.randomUUID()))).toBe('WRONG_CONVERSATION')
      expect(await refusal(send(carol, alice, 'x4', 'AAAA', crypto.randomUUID()))).toBe('NOT_FRIENDS')
      expect(await waitingFor(bob)).toEqual([])
    })

    test('an id used in another conversation is refused', async () => {
      const other = await store.storage.transaction((sql) =>
        openConversation(sql, alice.id, carol.id, crypto.randomUUID()),
      )
      await run(send(alice, bob, 'a1'))
      expect(await refusal(send(alice, carol, 'a1', 'AAAA', other))).toBe('ID_REUSED')
    })

    test('a full mailbox refuses messages, one conversation gets a fifth of it, and a confirmation frees space', async () => {
      for (let n = 1; n <= 4; n++) await run(send(alice, bob, `a${n}`))
      expect(await refusal(send(alice, bob, 'a5'))).toBe('MAILBOX_FULL')
      await run(receipt(bob, alice, 'delivered', 1))
      expect(await refusal(send(alice, bob, 'a5'))).toBe('accepted')
      expect(await refusal(send(bob, alice, 'big', 'A'.repeat(900)))).toBe('MAILBOX_FULL')
    })

    test('a receipt erases the messages it covers and no others', async () => {
      await run(send(alice, bob, 'a1'))
      await run(send(bob, alice, 'b1'))
      await run(send(alice, bob, 'a2'))
      await run(receipt(bob, alice, 'delivered', 2))
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a2' }])
      expect(await waitingFor(alice)).toMatchObject([{ id: 'b1' }])
    })

    test('a receipt for a message that does not exist yet is refused, even within the batch that stores the message', async () => {
      const results = await Promise.all([
        refusal(send(alice, bob, 'a1')),
        refusal(receipt(bob, alice, 'delivered', 1)),
      ])
      expect(results).toEqual(['accepted', 'SEQ_UNKNOWN'])
      expect(await refusal(receipt(carol, alice, 'delivered', 1))).toBe('WRONG_CONVERSATION')
    })

    test('a mark that does not advance sends no frame', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'read', 1))
      const before = rings.length
      expect(before).toBeGreaterThan(0)
      await run(receipt(bob, alice, 'delivered', 1))
      await run(receipt(bob, alice, 'read', 1))
      expect(rings.slice(before).filter(({ ring }) => ring.kind === 'receipt')).toEqual([])
    })

    test('marks are stored until they have certainly arrived at the sender', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'delivered', 1))
      const [waiting] = await reader.readReceipts(alice.id)
      expect(waiting?.marks.map(({ frame }) => JSON.parse(frame))).toMatchObject([
        { type: 'delivered', seq: 1 },
      ])
      expect(await reader.readReceipts(alice.id, waiting?.conversation)).toMatchObject([{ ...waiting }])
      expect(await reader.readReceipts(alice.id, (waiting?.conversation ?? 0) + 1)).toEqual([])
      await confirmMarks()
      expect(await reader.readReceipts(alice.id)).toEqual([])
      await run(receipt(bob, alice, 'read', 1))
      expect(await reader.readReceipts(alice.id)).toMatchObject([{ marks: [{ readSeq: 1 }] }])
    })

    test('a retraction erases the undelivered original, gets its own seq and is stored instead', async () => {
      await run(send(alice, bob, 'a1'))
      await run(send(alice, bob, 'a2'))
      expect(await run(retract(alice, bob, 'a1'))).toEqual([
        { type: 'retract_ack', id: 'a1', conv_id: conv } as RelayFrame,
      ])
      expect(await waitingFor(bob)).toMatchObject([
        { type: 'msg', id: 'a2', seq: 2 },
        { type: 'retract', id: 'a1', seq: 3 },
      ])
      await run(retract(alice, bob, 'a1'))
      expect(await waitingFor(bob)).toHaveLength(2)
    })

    test('retractions of one message in one batch are carried out once', async () => {
      await run(send(alice, bob, 'a1'))
      await Promise.all([1, 2, 3].map(() => run(retract(alice, bob, 'a1'))))
      expect(await waitingFor(bob)).toMatchObject([{ type: 'retract', id: 'a1', seq: 2 }])
    })

    test('a message and its retraction in one batch leave only the retraction', async () => {
      const [acked, retracted] = await Promise.all([
        run(send(alice, bob, 'a1')),
        run(retract(alice, bob, 'a1')),
      ])
      expect(acked).toMatchObject([{ type: 'ack', seq: 1 }])
      expect(retracted).toMatchObject([{ type: 'retract_ack' }])
      expect(await waitingFor(bob)).toMatchObject([{ type: 'retract', id: 'a1', seq: 2 }])
    })

    test('a message is never delivered if its retraction came first', async () => {
      await run(retract(alice, bob, 'late'))
      expect(await run(send(alice, bob, 'late'))).toMatchObject([{ type: 'ack', id: 'late', seq: 1 }])
      expect(await waitingFor(bob)).toMatchObject([{ type: 'retract', id: 'late' }])
    })

    test('an account cannot retract its peer’s message', async () => {
      await run(send(alice, bob, 'a1'))
      expect(await refusal(retract(bob, alice, 'a1'))).toBe('NOT_YOUR_MESSAGE')
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a1' }])
    })

    test('unfriending erases undelivered messages; becoming friends again keeps the conversation and its counter', async () => {
      await run(send(alice, bob, 'a1'))
      await run(send(alice, bob, 'a2'))
      await run(receipt(bob, alice, 'delivered', 1))
      await store.storage.transaction((sql) => closeConversation(sql, alice.id, bob.id))
      expect(await waitingFor(bob)).toEqual([])
      expect(await reader.readReceipts(alice.id)).toEqual([])
      expect(await refusal(send(alice, bob, 'a3'))).toBe('NOT_FRIENDS')
      expect(await refusal(receipt(bob, alice, 'delivered', 2))).toBe('accepted')
      const again = await store.storage.transaction((sql) =>
        openConversation(sql, bob.id, alice.id, crypto.randomUUID()),
      )
      expect<string>(again).toBe(conv)
      expect(await run(send(alice, bob, 'a4'))).toMatchObject([{ seq: 3 }])
      expect(await countsOf(store.storage)).toEqual([])
    })

    test('the messages and marks of a deleted account still arrive; messages to it are erased', async () => {
      await run(send(alice, bob, 'a1'))
      await run(send(bob, alice, 'b1'))
      await run(receipt(bob, alice, 'delivered', 1))
      await run(send(alice, bob, 'a2'))
      await eraseMailbox(bob.id, { storage: store.storage, signal: new AbortController().signal })
      expect(await waitingFor(alice)).toMatchObject([{ id: 'b1' }])
      expect(await reader.readReceipts(alice.id)).toMatchObject([{ marks: [{ deliveredSeq: 1 }] }])
      expect(await waitingFor(bob)).toEqual([])
      expect(await refusal(send(alice, bob, 'a3'))).toBe('NOT_FRIENDS')
      expect(await countsOf(store.storage)).toEqual([])
    })

    test('after a restored backup every conversation continues a million numbers further', async () => {
      await run(send(alice, bob, 'a1'))
      await moveSequencesAhead(store.storage)
      expect(await run(send(alice, bob, 'a2'))).toMatchObject([{ seq: 1_000_002 }])
      expect(await refusal(receipt(bob, alice, 'delivered', 900_000))).toBe('accepted')
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a2' }])
    })

    test('after any batches of messages, receipts, retractions and unfriendings, the order and the counts are right', async () => {
      const command = fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            do: fc.constant('send' as const),
            by: fc.boolean(),
            id: fc.integer({ min: 1, max: 12 }),
          }),
        },
        {
          weight: 3,
          arbitrary: fc.record({
            do: fc.constantFrom('delivered' as const, 'read' as const),
            by: fc.boolean(),
            id: fc.integer({ min: 1, max: 30 }),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            do: fc.constant('retract' as const),
            by: fc.boolean(),
            id: fc.integer({ min: 1, max: 12 }),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            do: fc.constantFrom('part' as const, 'befriend' as const),
            by: fc.boolean(),
            id: fc.constant(0),
          }),
        },
      )
      const batches = fc.array(fc.array(command, { maxLength: 12 }), { maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(batches, async (rounds) => {
          for (const round of rounds) {
            const outcomes = round.map(async ({ do: what, by, id }) => {
              const [from, to] = by ? [alice, bob] : [bob, alice]
              if (what === 'send') return commits.submit(send(from, to, `${from.alias}-${id}`))
              if (what === 'retract') return commits.submit(retract(from, to, `${from.alias}-${id}`))
              if (what === 'part')
                return store.storage.transaction((sql) => closeConversation(sql, from.id, to.id))
              if (what === 'befriend')
                return store.storage.transaction((sql) =>
                  openConversation(sql, from.id, to.id, crypto.randomUUID()),
                )
              return commits.submit(receipt(from, to, what, id))
            })
            for (const outcome of await Promise.all(outcomes)) {
              const refused =
                outcome && typeof outcome === 'object' && 'refused' in outcome ? outcome.refused : undefined
              expect(refused === undefined || refused instanceof ProtocolError).toBe(true)
            }
          }
          for (const person of [alice, bob]) {
            const seqs = (await waitingFor(person)).map(({ seq }) => Number(seq))
            expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
            expect(new Set(seqs).size).toBe(seqs.length)
          }
          expect(await countsOf(store.storage)).toEqual([])
        }),
        { numRuns: engine.name === 'SQLite' ? 40 : 15 },
      )
    })
  })
}
