// What a sender takes back, on every engine: undelivered messages of `crypto_v` 3 are gone, others stay.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld, type Person } from '../../test/mailbox-world.ts'
import { addNotice, closeConversation } from './messages.ts'
import { withdrawMessages } from './withdrawal.ts'

for (const engine of engines) {
  describe(`taking back on ${engine.name}`, () => {
    let world: MailboxWorld
    beforeEach(async () => {
      world = await openMailboxWorld(engine, { mailboxMessages: 3000, mailboxBytes: 1_000_000 })
    })
    afterEach(() => world.store.remove())

    const takesBack = async (who: Person): Promise<string[]> => {
      const { store, bus, clock, limits } = world
      const parts = { storage: store.storage, bus, clock, limits }
      const { messages } = await withdrawMessages(parts, who.id, check(ConversationId, world.conv))
      return messages.map(({ id }) => id)
    }
    const ringsFrom = (at: number) => () => world.rings.slice(at)
    const idsFor = async (who: Person) => (await world.waitingFor(who)).map(({ id }) => id)
    const toldTo = async (who: Person) =>
      (await world.reader.readNotices(who.id, 0, 1000)).map(({ frame }) => JSON.parse(frame))

    test('only the sender’s own undelivered messages of version 3 go, and both sides are told', async () => {
      const { alice, bob, conv, run, send, sendInEpoch, receipt } = world
      await run(sendInEpoch(alice, bob, 'delivered', 0))
      await run(receipt(bob, alice, 'delivered', 1))
      await run(send(alice, bob, 'older'))
      await run(sendInEpoch(alice, bob, 'begins', 0, 'AAAA'))
      await run(sendInEpoch(alice, bob, 'unread', 1))
      await run(send(alice, bob, 'behind'))
      await run(sendInEpoch(bob, alice, 'theirs', 1))
      const rings = ringsFrom(world.rings.length)
      expect(await takesBack(alice)).toEqual(['begins', 'unread'])
      expect(await idsFor(bob)).toEqual(['older', 'behind'])
      expect(await idsFor(alice)).toEqual(['theirs'])
      expect(await countsOf(world.store.storage)).toEqual([])
      const told = [
        ['begins', 3],
        ['unread', 4],
      ].map(([id, seq]) => ({ type: 'error', error: 'WITHDRAWN', id, conv_id: conv, seq }))
      expect(await toldTo(alice)).toMatchObject(told)
      expect(rings().filter(({ account }) => account === bob.id)).toEqual([
        { account: bob.id, ring: { kind: 'released', conversation: check(ConversationId, conv) } },
      ])
      expect(rings().filter(({ account }) => account === alice.id)).toMatchObject([
        ...[{ ring: { kind: 'notice' } }, { ring: { kind: 'notice' } }],
      ])

      const later = ringsFrom(world.rings.length)
      expect(await takesBack(alice)).toEqual([])
      expect(later()).toEqual([])
    })

    test('its id can be used again, under any version; that of a handshake cannot', async () => {
      const { alice, bob, run, refusal, send, sendInEpoch } = world
      await run(sendInEpoch(alice, bob, 'again', 0))
      await run(sendInEpoch(alice, bob, 'handshake', 0, 'AAAA'))
      await takesBack(alice)
      expect(await run(send(alice, bob, 'again'))).toMatchObject([{ type: 'ack', seq: 3 }])
      expect(await run(sendInEpoch(alice, bob, 'handshake', 0, 'AAAA'))).toMatchObject([{ seq: 2 }])
      expect(await refusal(sendInEpoch(alice, bob, 'late', 0))).toBe('EPOCH_STALE')
      expect(await idsFor(bob)).toEqual(['again'])
      expect(await countsOf(world.store.storage)).toEqual([])
    })

    test('what was retracted stays retracted, and marks cover what is left', async () => {
      const { alice, bob, run, send, sendInEpoch, receipt, retract } = world
      await run(send(alice, bob, 'read'))
      await run(sendInEpoch(alice, bob, 'gone', 0))
      await run(retract(alice, bob, 'gone'))
      await run(sendInEpoch(alice, bob, 'unread', 0))
      await run(receipt(bob, alice, 'read', 1))
      const rings = ringsFrom(world.rings.length)
      expect(await takesBack(alice)).toEqual(['unread'])
      expect(await idsFor(bob)).toEqual(['gone'])
      expect(await run(sendInEpoch(alice, bob, 'gone', 0))).toMatchObject([{ type: 'ack', seq: 2 }])
      expect(await idsFor(bob)).toEqual(['gone'])
      const receipts = rings().filter(({ ring }) => ring.kind === 'receipt')
      expect(receipts).toMatchObject([{ account: alice.id, ring: { hasNewlyCovering: true } }])
    })

    test('who is not of the conversation, or has parted, is refused, and nothing changes', async () => {
      const { alice, bob, carol, run, sendInEpoch, store } = world
      await run(sendInEpoch(alice, bob, 'unread', 0))
      expect(await failureOf(takesBack(carol))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await takesBack(bob)).toEqual([])
      expect(await idsFor(bob)).toEqual(['unread'])
      await store.storage.transaction((sql) => closeConversation(sql, alice.id, bob.id))
      expect(await failureOf(takesBack(alice))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('whoever leaves the answers unconfirmed can take back only so much', async () => {
      const { alice, bob, run, sendInEpoch, limits, clock, store } = world
      await store.storage.transaction(async (sql) => {
        for (let at = 0; at < limits.mailboxMessages; at += 1)
          await addNotice(sql, alice.id, '{}', { now: clock.now() })
      })
      await run(sendInEpoch(alice, bob, 'unread', 0))
      expect(await failureOf(takesBack(alice))).toMatchObject({ code: 'MAILBOX_FULL' })
      expect(await idsFor(bob)).toEqual(['unread'])
      expect(await countsOf(store.storage)).toEqual([])
    })

    test('a request takes 500 at most, the oldest first', async () => {
      const { alice, bob, run, sendInEpoch } = world
      const ids = Array.from({ length: 501 }, (_, at) => `m${at}`)
      await Promise.all(ids.map((id) => run(sendInEpoch(alice, bob, id, 0))))
      expect(await takesBack(alice)).toEqual(ids.slice(0, 500))
      expect(await takesBack(alice)).toEqual(ids.slice(500))
      expect(await countsOf(world.store.storage)).toEqual([])
    })
  })
}
