// The field `after` on every engine: a message is accepted only if the one that it names is known, so a
// message that was refused holds back those behind it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import type { Operation } from './batch.ts'
import { Expiry } from './expiry.ts'
import { openConversation } from './messages.ts'

const DAY_MS = 86_400_000

for (const engine of engines) {
  describe(`after on ${engine.name}`, () => {
    let world: MailboxWorld
    beforeEach(async () => {
      world = await openMailboxWorld(engine, { conversationPercent: 100 })
    })
    afterEach(() => world.store.remove())

    /** Alice's message to Bob that names the one before it. */
    const following = (id: string, after: string, payload?: string): Operation =>
      world.send(world.alice, world.bob, id, payload, world.conv, after)
    const refusalOf = (id: string, after: string): Promise<string> => world.refusal(following(id, after))
    /** The outcomes of operations that are submitted in one turn, and so share a commit. */
    const inOneCommit = (operations: readonly Operation[]): Promise<string[]> =>
      Promise.all(operations.map(world.refusal))
    const waitingIds = async (): Promise<unknown[]> => (await world.waitingFor(world.bob)).map(({ id }) => id)

    test('a message after one that is stored, delivered, retracted or expired is accepted', async () => {
      const { run, send, retract, receipt, alice, bob, clock, store } = world
      await run(send(alice, bob, 'delivered'))
      await run(receipt(bob, alice, 'delivered', 1))
      expect(await refusalOf('stored', 'delivered')).toBe('accepted')
      expect(await refusalOf('retracted', 'stored')).toBe('accepted')
      await run(retract(alice, bob, 'retracted'))
      expect(await refusalOf('expired', 'retracted')).toBe('accepted')
      clock.advance(31 * DAY_MS)
      await new Expiry({ ...world, storage: store.storage, bus: createInProcessBus() }).sweep()
      expect(await waitingIds()).toEqual([])
      expect(await refusalOf('last', 'expired')).toBe('accepted')
      expect(await waitingIds()).toEqual(['last'])
    })

    test('a message after a tombstone is accepted', async () => {
      await world.run(world.retract(world.alice, world.bob, 'unknown'))
      expect(await refusalOf('next', 'unknown')).toBe('accepted')
    })

    test('within one commit, a message after an earlier one is accepted, and after a later one refused', async () => {
      const { send, retract, alice, bob } = world
      expect(
        await inOneCommit([
          following('early', 'late'),
          send(alice, bob, 'late'),
          following('next', 'late'),
          retract(alice, bob, 'next'),
          following('behind', 'next'),
          retract(alice, bob, 'tombstone'),
          following('last', 'tombstone'),
        ]),
      ).toEqual(['OUT_OF_ORDER', ...Array(6).fill('accepted')])
      expect(await waitingIds()).toEqual(['late', 'next', 'behind', 'tombstone', 'last'])
    })

    test('a message after itself, an unknown one, the other side’s or one of another conversation is refused', async () => {
      const { run, send, store, alice, bob, carol } = world
      const other = await store.storage.transaction((sql) =>
        openConversation(sql, alice.id, carol.id, crypto.randomUUID()),
      )
      await run(send(bob, alice, 'of-bob'))
      await run(send(carol, alice, 'of-carol', 'AAAA', other))
      await run(send(alice, carol, 'to-carol', 'AAAA', other))
      for (const after of ['self', 'unknown', 'of-bob', 'of-carol', 'to-carol'])
        expect([after, await refusalOf('self', after)]).toEqual([after, 'OUT_OF_ORDER'])
      expect(await waitingIds()).toEqual([])
    })

    test('a stranger gets the same refusal with and without it', async () => {
      const { run, send, refusal, conv, alice, bob, carol } = world
      await run(send(alice, bob, 'known'))
      for (const after of [undefined, 'known', 'unknown'])
        expect(await refusal(send(carol, bob, 'x', 'AAAA', conv, after))).toBe('NOT_FRIENDS')
    })

    test('a message behind a refused one is refused, though it would fit, until that one is accepted', async () => {
      const { run, send, receipt, alice, bob } = world
      await run(send(alice, bob, 'large', 'A'.repeat(3600)))
      const chain = [following('a', 'large', 'A'.repeat(800)), following('b', 'a'), following('c', 'b')]
      expect(await inOneCommit(chain)).toEqual(['MAILBOX_FULL', 'OUT_OF_ORDER', 'OUT_OF_ORDER'])
      expect(await waitingIds()).toEqual(['large'])
      await run(receipt(bob, alice, 'delivered', 1))
      // Each comes alone, so each finds the one before it in the store.
      for (const operation of chain) expect(await world.refusal(operation)).toBe('accepted')
      expect(await waitingIds()).toEqual(['a', 'b', 'c'])
    })

    test('a refused message leaves nothing behind', async () => {
      const { run, send, store, alice, bob } = world
      await run(send(alice, bob, 'first'))
      const rows = (): Promise<object[][]> =>
        Promise.all([
          store.storage.sql`SELECT * FROM sent_ids ORDER BY message_id`,
          store.storage.sql`SELECT * FROM conversations`,
          store.storage.sql`SELECT * FROM lanes ORDER BY recipient_id`,
          store.storage.sql`SELECT * FROM mailboxes ORDER BY account_id`,
          store.storage.sql`SELECT * FROM messages`,
        ])
      const before = await rows()
      expect(await refusalOf('second', 'unknown')).toBe('OUT_OF_ORDER')
      expect(await rows()).toEqual(before)
      const [ack] = await run(following('second', 'first'))
      expect(ack).toMatchObject({ type: 'ack', seq: 2 })
    })

    test('a repeat is acknowledged whatever it names', async () => {
      const { run, send, alice, bob } = world
      const first = await run(send(alice, bob, 'm'))
      for (const after of ['m', 'unknown']) expect(await run(following('m', after))).toEqual(first)
      const [twin, repeat] = await Promise.all([run(send(alice, bob, 'n')), run(following('n', 'unknown'))])
      expect(repeat).toEqual(twin)
    })

    test('whatever is refused, sent again, retracted or delivered between, a chain is stored in its order', async () => {
      const { send, retract, receipt, commits, alice, bob, store } = world
      const step = fc.record({
        do: fc.constantFrom('send', 'send', 'send', 'send', 'retract', 'delivered'),
        at: fc.nat({ max: 7 }),
        bytes: fc.constantFrom(4, 400, 1600),
      })
      let round = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 3, maxLength: 8 }),
          async (groups) => {
            round += 1
            const nameOf = (at: number): string => `${round}-${at}`
            const seqs = new Map<number, number>()
            for (const group of groups) {
              await Promise.all(
                group.map(async ({ do: what, at, bytes }) => {
                  if (what === 'delivered') {
                    const seq = Math.max(1, ...seqs.values())
                    await commits.submit(receipt(bob, alice, 'delivered', seq))
                  } else if (what === 'retract') {
                    await commits.submit(retract(alice, bob, nameOf(at)))
                  } else {
                    const name = nameOf(at)
                    const after = at === 0 ? undefined : nameOf(at - 1)
                    const payload = 'A'.repeat(bytes)
                    const outcome = await commits.submit(send(alice, bob, name, payload, world.conv, after))
                    const [ack] = 'answers' in outcome ? outcome.answers : []
                    if (ack?.type === 'ack') seqs.set(at, ack.seq)
                  }
                }),
              )
            }
            const known = await store.storage.sql<{ message_id: string; seq: number; is_retracted: number }>`
              SELECT message_id, seq, is_retracted FROM sent_ids ORDER BY seq`
            const mine = known.filter(({ message_id }) => message_id.startsWith(`${round}-`))
            const places = new Map(mine.map(({ message_id, seq }) => [Number(message_id.split('-')[1]), seq]))
            const tombstones = new Set(
              mine
                .filter(({ is_retracted }) => is_retracted === 1)
                .map(({ message_id }) => Number(message_id.split('-')[1])),
            )
            for (const [at, seq] of places) {
              if (at === 0 || tombstones.has(at)) continue
              expect(places.get(at - 1) ?? Number.POSITIVE_INFINITY).toBeLessThan(seq)
            }
            expect(await countsOf(store.storage)).toEqual([])
            await commits.submit(receipt(bob, alice, 'delivered', Math.max(1, ...places.values())))
          },
        ),
        { numRuns: engine.name === 'SQLite' ? 40 : 8 },
      )
    })
  })
}
