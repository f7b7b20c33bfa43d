// The mailbox's promises on every engine: what is accepted, in which order it comes out, and that the counts of
// what waits are always the counts of what is there.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { defaultLimits, type Limits, ProtocolError, type RelayFrame } from '@sotto/protocol'
import fc from 'fast-check'
import { engines, type TestStore } from '../../test/engines.ts'
import type { Ring } from '../cluster/bus.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { createLog } from '../operations/log.ts'
import type { AccountId } from '../storage/storage.ts'
import type { Operation } from './batch.ts'
import { Expiry, resumeExpiry } from './expiry.ts'
import { GroupCommit } from './group-commit.ts'
import { MailboxReader } from './mailbox-reader.ts'
import { clockAt, countsOf, frameOf, type Person, people } from './mailbox-world.ts'
import { closeConversation, createBatchStore, moveSequencesAhead, openConversation } from './messages.ts'

const DAY_MS = 86_400_000

for (const engine of engines) {
  describe(`mailbox on ${engine.name}`, () => {
    let store: TestStore
    let clock: ReturnType<typeof clockAt>
    let alice: Person
    let bob: Person
    let carol: Person
    let conv: string
    let limits: Limits
    let rings: { account: AccountId; ring: Ring }[]
    let commits: GroupCommit
    let reader: MailboxReader

    beforeEach(async () => {
      store = await engine.open()
      clock = clockAt(1_700_000_000_000)
      limits = { ...defaultLimits(), mailboxMessages: 20, mailboxBytes: 4000 }
      ;[alice, bob, carol] = await people(store.storage, clock)
      conv = await store.storage.transaction((sql) =>
        openConversation(sql, alice.id, bob.id, crypto.randomUUID()),
      )
      rings = []
      const bus = createInProcessBus()
      bus.listen((account, ring) => rings.push({ account, ring }))
      const log = createLog('silent')
      const lookAgain = (): void => undefined
      commits = new GroupCommit({
        store: createBatchStore(store.storage),
        bus,
        clock,
        limits,
        log,
        lookAgain,
      })
      reader = new MailboxReader(store.storage)
    })
    afterEach(() => store.remove())

    const run = async (operation: Operation): Promise<readonly RelayFrame[]> => {
      const outcome = await commits.submit(operation)
      if ('refused' in outcome) throw outcome.refused
      return outcome.answers
    }
    const refusal = async (operation: Operation): Promise<string> => {
      const outcome = await commits.submit(operation)
      return 'refused' in outcome ? outcome.refused.code : 'accepted'
    }
    const send = (from: Person, to: Person, id: string, payload = 'AAAA', convId = conv): Operation => ({
      kind: 'append',
      account: from.id,
      frame: frameOf({ type: 'msg', id, to: to.alias, conv_id: convId, crypto_v: 1, payload }, 'msg'),
    })
    const retract = (from: Person, to: Person, id: string): Operation => ({
      kind: 'retract',
      account: from.id,
      frame: frameOf({ type: 'retract', id, to: to.alias, conv_id: conv }, 'retract'),
    })
    const receipt = (reading: Person, to: Person, type: 'delivered' | 'read', seq: number): Operation => ({
      kind: 'receipt',
      account: reading.id,
      frame: frameOf({ type, conv_id: conv, seq, to: to.alias }, type),
    })
    const waitingFor = async (person: Person): Promise<Record<string, unknown>[]> =>
      (await reader.read(person.id, 0, 1000)).map(({ frame }) => JSON.parse(frame))

    test('both sides share one counter, and what waits comes out in its order', async () => {
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

    test('a repeat is recognised after delivery, and followed by the marks', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'read', 1))
      const answers = await run(send(alice, bob, 'a1'))
      expect(answers).toMatchObject([
        { type: 'ack', seq: 1 },
        { type: 'read', seq: 1, from: bob.alias, to: alice.alias },
      ])
      expect(await waitingFor(bob)).toEqual([])
    })

    test('`at` does not fall when the clock does', async () => {
      const [before] = await run(send(alice, bob, 'a1'))
      clock.advance(-60_000)
      const [after] = await run(send(alice, bob, 'a2'))
      expect(after).toMatchObject({ at: (before as { at: number }).at })
    })

    test('only friends, only in their conversation', async () => {
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

    test('a full mailbox refuses, a fifth of it for one conversation, and has room again once some is confirmed', async () => {
      for (let n = 1; n <= 4; n++) await run(send(alice, bob, `a${n}`))
      expect(await refusal(send(alice, bob, 'a5'))).toBe('MAILBOX_FULL')
      await run(receipt(bob, alice, 'delivered', 1))
      expect(await refusal(send(alice, bob, 'a5'))).toBe('accepted')
      expect(await refusal(send(bob, alice, 'big', 'A'.repeat(900)))).toBe('MAILBOX_FULL')
    })

    test('a receipt erases what it covers and nothing else', async () => {
      await run(send(alice, bob, 'a1'))
      await run(send(bob, alice, 'b1'))
      await run(send(alice, bob, 'a2'))
      await run(receipt(bob, alice, 'delivered', 2))
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a2' }])
      expect(await waitingFor(alice)).toMatchObject([{ id: 'b1' }])
    })

    test('a receipt for what does not exist yet is refused, even within the batch that makes it', async () => {
      const results = await Promise.all([
        refusal(send(alice, bob, 'a1')),
        refusal(receipt(bob, alice, 'delivered', 1)),
      ])
      expect(results).toEqual(['accepted', 'SEQ_UNKNOWN'])
      expect(await refusal(receipt(carol, alice, 'delivered', 1))).toBe('WRONG_CONVERSATION')
    })

    test('a mark that does not advance is told to nobody', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'read', 1))
      rings = []
      await run(receipt(bob, alice, 'delivered', 1))
      await run(receipt(bob, alice, 'read', 1))
      expect(rings.filter(({ ring }) => ring.kind === 'receipt')).toEqual([])
    })

    test('marks wait until the sender is known to have heard of them', async () => {
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'delivered', 1))
      const [waiting] = await reader.readReceipts(alice.id)
      expect(waiting?.frames.map((frame) => JSON.parse(frame))).toMatchObject([{ type: 'delivered', seq: 1 }])
      const { conversation, deliveredSeq, readSeq } = waiting ?? {
        conversation: 0,
        deliveredSeq: 0,
        readSeq: 0,
      }
      const receipts = new Map([[conversation, { deliveredSeq, readSeq }]])
      await reader.confirm(alice.id, { receipts, retractionPosition: 0, noticeId: 0 })
      expect(await reader.readReceipts(alice.id)).toEqual([])
      await run(receipt(bob, alice, 'read', 1))
      expect(await reader.readReceipts(alice.id)).toMatchObject([{ readSeq: 1 }])
    })

    test('a retraction erases the undelivered original, takes a seq and waits in its place', async () => {
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

    test('the retraction of an unknown message keeps it from ever being shown', async () => {
      await run(retract(alice, bob, 'late'))
      expect(await run(send(alice, bob, 'late'))).toMatchObject([{ type: 'ack', id: 'late', seq: 1 }])
      expect(await waitingFor(bob)).toMatchObject([{ type: 'retract', id: 'late' }])
    })

    test('nobody retracts the other side’s message', async () => {
      await run(send(alice, bob, 'a1'))
      expect(await refusal(retract(bob, alice, 'a1'))).toBe('NOT_YOUR_MESSAGE')
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a1' }])
    })

    test('parting erases what was undelivered; befriending again keeps the conversation and its counter', async () => {
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

    test('an expired message goes, and its sender is told once', async () => {
      const bus = createInProcessBus()
      const expiry = new Expiry({ storage: store.storage, bus, clock, limits, log: createLog('silent') })
      await run(send(alice, bob, 'old'))
      clock.advance(29 * DAY_MS)
      await run(send(alice, bob, 'young'))
      await expiry.sweep()
      expect(await waitingFor(bob)).toHaveLength(2)
      clock.advance(2 * DAY_MS)
      await expiry.sweep()
      await expiry.sweep()
      expect(await waitingFor(bob)).toMatchObject([{ id: 'young' }])
      const notices = await reader.readNotices(alice.id, 0, 10)
      expect(notices.map(({ frame }) => JSON.parse(frame))).toMatchObject([
        { type: 'error', error: 'EXPIRED', id: 'old', conv_id: conv },
      ])
      expect(await run(send(alice, bob, 'old'))).toMatchObject([{ type: 'ack', seq: 1 }])
      expect(await waitingFor(bob)).toHaveLength(1)
      expect(await countsOf(store.storage)).toEqual([])
    })

    test('a clock that jumped stops expiry until the operator says go on', async () => {
      const bus = createInProcessBus()
      const expiry = new Expiry({ storage: store.storage, bus, clock, limits, log: createLog('silent') })
      await run(send(alice, bob, 'a1'))
      clock.jump(400 * DAY_MS)
      await expiry.sweep()
      expect(await expiry.isStopped()).toBe(true)
      clock.jump(-400 * DAY_MS)
      await expiry.sweep()
      expect(await expiry.isStopped()).toBe(true)
      expect(await waitingFor(bob)).toHaveLength(1)
      await resumeExpiry(store.storage)
      clock.advance(31 * DAY_MS)
      await expiry.sweep()
      expect(await waitingFor(bob)).toEqual([])
    })

    test('a clock that was set right for good goes on once the operator says so', async () => {
      const expiry = new Expiry({
        storage: store.storage,
        bus: createInProcessBus(),
        clock,
        limits,
        log: createLog('silent'),
      })
      await run(send(alice, bob, 'a1'))
      clock.jump(2 * 3_600_000)
      await expiry.sweep()
      await expiry.sweep()
      await resumeExpiry(store.storage)
      clock.advance(31 * DAY_MS)
      await expiry.sweep()
      expect(await expiry.isStopped()).toBe(false)
      expect(await waitingFor(bob)).toEqual([])
    })

    test('after a restored backup every conversation goes on a million further', async () => {
      await run(send(alice, bob, 'a1'))
      await moveSequencesAhead(store.storage)
      expect(await run(send(alice, bob, 'a2'))).toMatchObject([{ seq: 1_000_002 }])
      expect(await refusal(receipt(bob, alice, 'delivered', 900_000))).toBe('accepted')
      expect(await waitingFor(bob)).toMatchObject([{ id: 'a2' }])
    })

    test('ids are forgotten after their time, not before', async () => {
      const expiry = new Expiry({
        storage: store.storage,
        bus: createInProcessBus(),
        clock,
        limits,
        log: createLog('silent'),
      })
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'delivered', 1))
      clock.advance(89 * DAY_MS)
      await expiry.sweep()
      expect(await run(send(alice, bob, 'a1'))).toMatchObject([{ seq: 1 }, { type: 'delivered' }])
      clock.advance(2 * DAY_MS)
      await expiry.sweep()
      expect(await run(send(alice, bob, 'a1'))).toMatchObject([{ seq: 2 }])
    })

    test('whatever is sent, confirmed, taken back and parted, in whatever batches: order holds and the counts agree', async () => {
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
