// Expiry on every engine: messages that nobody fetched are erased after their time and not earlier.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { countsOf, type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { Expiry } from './expiry.ts'
import { openConversation } from './messages.ts'

const DAY_MS = 86_400_000

for (const engine of engines) {
  describe(`expiry on ${engine.name}`, () => {
    let world: MailboxWorld
    let store: MailboxWorld['store']
    let clock: MailboxWorld['clock']
    let alice: MailboxWorld['alice']
    let bob: MailboxWorld['bob']
    let conv: MailboxWorld['conv']
    let reader: MailboxWorld['reader']
    let run: MailboxWorld['run']
    let send: MailboxWorld['send']
    let receipt: MailboxWorld['receipt']
    let waitingFor: MailboxWorld['waitingFor']

    beforeEach(async () => {
      world = await openMailboxWorld(engine)
      ;({ store, clock, alice, bob, conv, reader, run, send, receipt, waitingFor } = world)
    })
    afterEach(() => world.store.remove())

    test('an expired message is erased, and its sender is notified once', async () => {
      const expiry = new Expiry({ ...world, storage: store.storage, bus: createInProcessBus() })
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

    test('messages whose expiry fails do not stop the expiry of others, nor the rest of the pass', async () => {
      const expiry = new Expiry({ ...world, storage: store.storage, bus: createInProcessBus() })
      const { carol } = world
      const other = await store.storage.transaction((sql) =>
        openConversation(sql, carol.id, bob.id, crypto.randomUUID()),
      )
      await run(send(alice, bob, 'a1'))
      await run(send(carol, bob, 'c1', 'AAAA', other))
      await store.storage.transaction((sql) => sql`DELETE FROM conversations WHERE conv_id = ${conv}`)
      clock.advance(91 * DAY_MS)
      await expiry.sweep()
      const left = await store.storage.sql<{ id: string }>`SELECT message_id AS id FROM messages`
      expect(left.map(({ id }) => id)).toEqual(['a1'])
      expect(await reader.readNotices(carol.id, 0, 10)).toHaveLength(1)
      expect(await store.storage.sql`SELECT message_id FROM sent_ids`).toHaveLength(0)
    })

    test('ids are forgotten after their time, not before', async () => {
      const expiry = new Expiry({ ...world, storage: store.storage, bus: createInProcessBus() })
      await run(send(alice, bob, 'a1'))
      await run(receipt(bob, alice, 'delivered', 1))
      clock.advance(89 * DAY_MS)
      await expiry.sweep()
      expect(await run(send(alice, bob, 'a1'))).toMatchObject([{ seq: 1 }])
      clock.advance(2 * DAY_MS)
      await expiry.sweep()
      expect(await run(send(alice, bob, 'a1'))).toMatchObject([{ seq: 2 }])
    })
  })
}
