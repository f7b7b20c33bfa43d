// The epochs of conversations on every engine: of those who leave the same epoch one wins, whatever node they
// are at; what was accepted stays accepted; and what a client cannot read, it does not confirm.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ConversationId, check, ProtocolError } from '@sotto/protocol'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import type { Storage } from '../storage/storage.ts'
import type { Operation } from './batch.ts'
import { Expiry } from './expiry.ts'
import type { GroupCommit } from './group-commit.ts'
import { findGroup } from './groups.ts'
import { closeConversation, eraseMailbox, openConversation } from './messages.ts'

const DAY_MS = 86_400_000

for (const engine of engines) {
  describe(`epochs of conversations on ${engine.name}`, () => {
    let world: MailboxWorld
    beforeEach(async () => {
      world = await openMailboxWorld(engine, { waitingHandshakes: 3 })
    })
    afterEach(() => world.store.remove())

    const toBob = (id: string, epoch: number, info?: string): Operation =>
      world.sendInEpoch(world.alice, world.bob, id, epoch, info)
    const toAlice = (id: string, epoch: number, info?: string): Operation =>
      world.sendInEpoch(world.bob, world.alice, id, epoch, info)

    /** What an operation is answered with, in short. */
    const answerTo = async (operation: Operation, by = world.commits): Promise<string> => {
      const outcome = await by.submit(operation)
      if ('isReplaced' in outcome) return 'replaced'
      if (!('refused' in outcome)) return outcome.answers.map(({ type }) => type).join()
      const { code, details } = outcome.refused
      return details.epoch === undefined ? code : `${code} ${details.epoch}`
    }
    const inOneCommit = (operations: readonly Operation[]): Promise<string[]> =>
      Promise.all(operations.map((operation) => answerTo(operation)))
    const group = (storage = world.store.storage, who = world.alice) =>
      findGroup(storage.sql, who.id, check(ConversationId, world.conv))
    const idsFor = async (who: 'alice' | 'bob') => (await world.waitingFor(world[who])).map(({ id }) => id)

    test('a handshake ends its epoch for the operations behind it in the same commit, and for all later ones', async () => {
      const first = [
        ...[
          toBob('a1', 0),
          toBob('h1', 0, 'AAAA'),
          toBob('a2', 0),
          toAlice('b1', 1),
          toAlice('h2', 0, 'BBBB'),
        ],
        ...[toAlice('h3', 1, 'CCCC'), toBob('a3', 1), toBob('a4', 2)],
      ]
      expect(await inOneCommit(first)).toEqual([
        ...['ack', 'ack', 'EPOCH_STALE 1', 'ack', 'EPOCH_STALE 1'],
        ...['ack', 'EPOCH_STALE 2', 'ack'],
      ])
      expect(await inOneCommit([toBob('a5', 1), toBob('a6', 3), toBob('a7', 2)])).toEqual([
        ...['EPOCH_STALE 2', 'EPOCH_STALE 2', 'ack'],
      ])
      expect(await group()).toEqual({ epoch: 2, group_info: 'CCCC', sent_seq: 6 })
      expect(await world.waitingFor(world.bob)).toMatchObject([
        { id: 'a1', seq: 1, crypto_v: 3, epoch: 0 },
        { id: 'h1', seq: 2, crypto_v: 3, epoch: 0, handshake: true },
        { id: 'a4', seq: 5, epoch: 2 },
        { id: 'a7', seq: 6, epoch: 2 },
      ])
      const [{ handshake }, h1] = (await world.waitingFor(world.bob)) as [{ handshake?: true }, object]
      expect(handshake).toBeUndefined()
      expect(h1).not.toHaveProperty('group_info')
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('what is refused as stale leaves nothing behind, and its id can be sent again in the present epoch', async () => {
      await inOneCommit([toBob('h1', 0, 'AAAA')])
      const ids = () => world.store.storage.sql`SELECT message_id FROM sent_ids ORDER BY message_id`
      const before = await ids()
      expect(await inOneCommit([toAlice('b1', 0), toAlice('h2', 0, 'BBBB')])).toEqual([
        ...['EPOCH_STALE 1', 'EPOCH_STALE 1'],
      ])
      expect(await ids()).toEqual(before)
      expect(await group()).toEqual({ epoch: 1, group_info: 'AAAA', sent_seq: 1 })
      expect(await inOneCommit([toAlice('b1', 1)])).toEqual(['ack'])
    })

    test('each side learns which of its messages of version 3 was the last, whatever became of it', async () => {
      const { send, retract, receipt, alice, bob, store } = world
      const lastOf = async (who: typeof alice) => (await group(store.storage, who)).sent_seq
      expect([await lastOf(alice), await lastOf(bob)]).toEqual([undefined, undefined])
      await inOneCommit([send(alice, bob, 'a1'), toBob('a2', 0), toBob('a3', 0), toAlice('h1', 0, 'AAAA')])
      expect([await lastOf(alice), await lastOf(bob)]).toEqual([3, 4])
      // What is of another version, refused, repeated, retracted or delivered changes nothing.
      await inOneCommit([send(alice, bob, 'a4'), toBob('a5', 0), toBob('a2', 0), retract(alice, bob, 'a3')])
      await world.run(receipt(bob, alice, 'delivered', 4))
      expect([await lastOf(alice), await lastOf(bob)]).toEqual([3, 4])
    })

    test('messages of other versions have no epoch and are not asked for one', async () => {
      const { send, alice, bob } = world
      expect(await group()).toEqual({ epoch: 0 })
      expect(
        await inOneCommit([send(alice, bob, 'a1'), toBob('h1', 0, 'AAAA'), send(alice, bob, 'a2')]),
      ).toEqual(['ack', 'ack', 'ack'])
      const [first, , last] = await world.waitingFor(bob)
      for (const frame of [first, last]) {
        expect(frame).not.toHaveProperty('epoch')
        expect(frame).not.toHaveProperty('handshake')
      }
    })

    test('a repeat gets its first ack in any epoch, and changes none', async () => {
      const operations = [toBob('a1', 0), toBob('h1', 0, 'AAAA'), toBob('h2', 1, 'BBBB')]
      const first = await Promise.all(operations.map((each) => world.run(each)))
      const again = await Promise.all([...operations, toBob('h1', 7, 'CCCC')].map((each) => world.run(each)))
      expect(again).toEqual([...first, first[1] ?? []])
      expect(await group()).toEqual({ epoch: 2, group_info: 'BBBB', sent_seq: 3 })
    })

    test('a handshake with the id of something else is refused, because its ack would say that the epoch ended', async () => {
      const { retract, alice, bob } = world
      await inOneCommit([toBob('a1', 0), retract(alice, bob, 'early')])
      expect(await inOneCommit([toBob('a1', 0, 'AAAA'), toBob('early', 0, 'AAAA')])).toEqual([
        ...['ID_REUSED', 'ID_REUSED'],
      ])
      expect(await group()).toEqual({ epoch: 0, sent_seq: 1 })
    })

    test('a handshake cannot be retracted, in its own commit, later, or after it was delivered', async () => {
      const { retract, receipt, alice, bob } = world
      expect(await inOneCommit([toBob('h1', 0, 'AAAA'), retract(alice, bob, 'h1')])).toEqual([
        ...['ack', 'NOT_RETRACTABLE'],
      ])
      expect(await answerTo(retract(alice, bob, 'h1'))).toBe('NOT_RETRACTABLE')
      expect(await answerTo(retract(bob, alice, 'h1'))).toBe('NOT_YOUR_MESSAGE')
      expect(await idsFor('bob')).toEqual(['h1'])
      await world.run(receipt(bob, alice, 'delivered', 1))
      expect(await answerTo(retract(alice, bob, 'h1'))).toBe('NOT_RETRACTABLE')
      expect(await inOneCommit([toBob('a1', 1), retract(alice, bob, 'a1')])).toEqual(['ack', 'retract_ack'])
    })

    test('of two who begin at the same moment one wins, and the other learns the epoch', async () => {
      const nodes = engine.name === 'SQLite' ? [] : [await world.store.reopen(), await world.store.reopen()]
      const [one = world.commits, two = world.commits] = nodes.map((storage) => world.commitsOn(storage))
      for (let epoch = 0; epoch < 12; epoch++) {
        const began = await Promise.all([
          answerTo(toBob(`a${epoch}`, epoch, 'AAAA'), one),
          answerTo(toAlice(`b${epoch}`, epoch, 'BBBB'), two),
        ])
        expect(began.toSorted()).toEqual([`EPOCH_STALE ${epoch + 1}`, 'ack'])
        const winner = began[0] === 'ack' ? 'AAAA' : 'BBBB'
        expect(await group()).toMatchObject({ epoch: epoch + 1, group_info: winner })
        for (const [reader, other] of [
          [world.alice, world.bob],
          [world.bob, world.alice],
        ] as const)
          await world.run(world.receipt(reader, other, 'delivered', epoch + 1))
      }
      for (const storage of nodes) await storage.close()
    })

    test('a full mailbox still takes some handshakes, and no more', async () => {
      const { send, receipt, alice, bob } = world
      // A fifth of twenty messages fills the conversation.
      const four = [1, 2, 3, 4].map((n) => send(alice, bob, `a${n}`))
      expect(await inOneCommit([...four, send(alice, bob, 'a5'), toBob('a6', 0)])).toEqual([
        ...['ack', 'ack', 'ack', 'ack', 'MAILBOX_FULL', 'MAILBOX_FULL'],
      ])
      const handshakes = [0, 1, 2, 3].map((epoch) => toBob(`h${epoch}`, epoch, 'AAAA'))
      expect(await inOneCommit(handshakes.slice(0, 2))).toEqual(['ack', 'ack'])
      expect(await inOneCommit(handshakes.slice(2))).toEqual(['ack', 'MAILBOX_FULL'])
      expect(await inOneCommit(handshakes.slice(3))).toEqual(['MAILBOX_FULL'])
      expect(await countsOf(world.store.storage)).toEqual([])
      // One of the four messages and all handshakes stay.
      await world.run(receipt(bob, alice, 'delivered', 3))
      expect(await inOneCommit([...handshakes.slice(3), send(alice, bob, 'a7')])).toEqual([
        ...['MAILBOX_FULL', 'MAILBOX_FULL'],
      ])
      await world.run(receipt(bob, alice, 'delivered', 5))
      expect(await inOneCommit([...handshakes.slice(3), send(alice, bob, 'a7')])).toEqual(['ack', 'ack'])
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('a client that does not read version 3 confirms nothing from the first such message on', async () => {
      const { send, receipt, alice, bob } = world
      const sent = [
        ...[send(alice, bob, 'a1'), send(bob, alice, 'b1'), send(alice, bob, 'a2')],
        ...[toBob('h1', 0, 'AAAA'), send(alice, bob, 'a3'), send(bob, alice, 'b2')],
      ]
      await inOneCommit(sent)
      // It knows the number of its own last message.
      for (const type of ['delivered', 'read'] as const) {
        await world.run(receipt(bob, alice, type, 6, 'older client'))
        expect(await idsFor('bob')).toEqual(['h1', 'a3'])
      }
      expect(await world.reader.readReceipts(alice.id)).toMatchObject([
        { marks: [{ deliveredSeq: 3, readSeq: 3 }] },
      ])
      // Its own messages have other readers.
      await world.run(receipt(alice, bob, 'delivered', 6, 'older client'))
      expect(await idsFor('alice')).toEqual([])
      await world.run(receipt(bob, alice, 'delivered', 5))
      expect(await idsFor('bob')).toEqual([])
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('an ack names the recipient whose client may have to read version 3, until it is delivered', async () => {
      const { send, receipt, alice, bob } = world
      const recipientOf = async (operation: Operation) => {
        const outcome = await world.commits.submit(operation)
        if (!('acknowledged' in outcome)) throw new Error('no ack')
        return outcome.acknowledged?.recipient
      }
      expect(await recipientOf(send(alice, bob, 'a1'))).toBeUndefined()
      expect(await recipientOf(toBob('a2', 0))).toBe(bob.id)
      expect(await recipientOf(toBob('a2', 0))).toBe(bob.id)
      await world.run(receipt(bob, alice, 'delivered', 2))
      expect(await recipientOf(toBob('a2', 0))).toBeUndefined()
    })

    test('epoch and group info outlast the expiry of a handshake and the end of a friendship', async () => {
      const { store, bus, clock, limits, log, alice, bob } = world
      const { storage } = store
      await inOneCommit([toBob('h1', 0, 'AAAA')])
      clock.advance((limits.messageLifeDays + 1) * DAY_MS)
      await new Expiry({ storage, bus, clock, limits, log }).sweep()
      expect(await idsFor('bob')).toEqual([])
      await inOneCommit([toBob('h2', 1, 'BBBB')])
      await storage.transaction((sql) => closeConversation(sql, alice.id, bob.id))
      expect(await answerTo(toBob('a1', 2))).toBe('NOT_FRIENDS')
      expect(await group().catch((error) => error)).toEqual(new ProtocolError('NOT_FOUND'))
      await storage.transaction((sql) => openConversation(sql, alice.id, bob.id, crypto.randomUUID(), 1))
      expect(await group()).toEqual({ epoch: 2, group_info: 'BBBB', sent_seq: 2 })
      expect(await inOneCommit([toAlice('b1', 0), toAlice('b2', 2)])).toEqual(['EPOCH_STALE 2', 'ack'])
    })

    test('group infos are erased with either account', async () => {
      for (const gone of ['alice', 'bob'] as const) {
        const fresh = await openMailboxWorld(engine)
        const { storage } = fresh.store
        await fresh.run(fresh.sendInEpoch(fresh.alice, fresh.bob, 'h1', 0, 'AAAA'))
        const kept = () => storage.sql<{ group_info: string }>`SELECT group_info FROM group_infos`
        expect(await kept()).toEqual([{ group_info: 'AAAA' }])
        await eraseMailbox(fresh[gone].id, { storage, signal: new AbortController().signal })
        expect(await kept()).toEqual([])
        await fresh.store.remove()
      }
    })

    if (engine.name === 'PostgreSQL') {
      test('an epoch is compared after the conversation is locked, because it may end while that waits', async () => {
        const { storage } = world.store
        const node: GroupCommit = world.commitsOn(storage)
        let late: Promise<string> | undefined
        await storage.transaction(async (sql) => {
          await sql`UPDATE conversations SET group_epoch = 1 WHERE conv_id = ${world.conv}`
          late = answerTo(toBob('h1', 0, 'AAAA'), node)
          await untilWaiting(storage)
        })
        expect(await late).toBe('EPOCH_STALE 1')
        expect(await group()).toEqual({ epoch: 1 })
      })
    }
  })
}

/** Resolves once a transaction waits for a lock. */
async function untilWaiting(storage: Storage): Promise<void> {
  for (;;) {
    const waiting = await storage.sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    if (waiting.length > 0) return
  }
}
