// Which replies of the friend list count, on both engines.
import { describe, expect, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import { engines } from '../../test/engines.ts'
import { openMailboxWorld } from '../../test/mailbox-world.ts'
import { explainingStorage, type PlanStep } from '../../test/query-plans.ts'
import type { Storage } from '../storage/storage.ts'
import { FriendListReplies } from './friend-list-replies.ts'
import { closeConversation, openConversation } from './messages.ts'

for (const engine of engines) {
  describe(`replies of the friend list on ${engine.name}`, () => {
    const open = async () => {
      const world = await openMailboxWorld(engine)
      const { store, bus, log, alice, carol } = world
      const accept = (at: number) =>
        store.storage.transaction((sql) => openConversation(sql, alice.id, carol.id, crypto.randomUUID(), at))
      const replies = (listedSeconds: number, storage: Storage = store.storage): FriendListReplies =>
        new FriendListReplies({ storage, bus, log, limits: { listedSeconds } })
      const unlisted = async (): Promise<number[]> => {
        const rows = await store.storage.sql<{ unlisted_since: number }>`
          SELECT unlisted_since FROM lanes WHERE unlisted_since > 0 ORDER BY recipient_id`
        return rows.map(({ unlisted_since }) => unlisted_since)
      }
      /** The accounts that have not been told of their conversation. */
      const waiting = async (): Promise<number[]> => {
        const rows = await store.storage.sql<{ recipient_id: number }>`
          SELECT recipient_id FROM lanes WHERE unlisted_since > 0`
        return rows.map(({ recipient_id }) => recipient_id)
      }
      /** Resolves at the next ring that a list was recorded. */
      const listed = (): Promise<void> =>
        new Promise((resolve) => bus.listen((_account, { kind }) => kind === 'listed' && resolve()))
      return { ...world, conv: await accept(5), accept, replies, unlisted, waiting, listed }
    }

    test('one that the client waited for ends the wait of its side, after the time to read it', async () => {
      const { store, alice, conv, replies, unlisted, listed } = await open()
      expect(await unlisted()).toEqual([5, 5])
      const recorded = listed()
      await replies(0.05).leaving(alice.id, [conv], new AbortController().signal)
      expect(await unlisted()).toEqual([5, 5])
      await recorded
      expect(await unlisted()).toEqual([5])
      await store.remove()
    })

    test('one that the client did not wait for does not count', async () => {
      const { store, alice, carol, conv, replies, waiting, listed } = await open()
      const gone = new AbortController()
      const all = replies(0)
      await all.leaving(alice.id, [conv], gone.signal)
      gone.abort()
      const recorded = listed()
      await all.leaving(carol.id, [conv], new AbortController().signal)
      await recorded
      await all.stop()
      expect(await waiting()).toEqual([alice.id])
      await store.remove()
    })

    test('one that left before the acceptance was renewed does not end the wait after it', async () => {
      const { store, alice, carol, conv, accept, replies, unlisted, listed } = await open()
      const recorded = listed()
      await replies(0.2).leaving(alice.id, [conv], new AbortController().signal)
      await store.storage.transaction((sql) => closeConversation(sql, alice.id, carol.id))
      expect(await accept(6)).toBe(conv)
      await recorded
      expect(await unlisted()).toEqual([6, 6])
      await store.remove()
    })

    test('after a stop none is recorded', async () => {
      const { store, alice, carol, conv, replies, waiting, listed } = await open()
      const stopped = replies(0.001)
      await stopped.leaving(alice.id, [conv], new AbortController().signal)
      await stopped.stop()
      // This one is due after the other was.
      const recorded = listed()
      await replies(0.01).leaving(carol.id, [conv], new AbortController().signal)
      await recorded
      expect(await waiting()).toEqual([alice.id])
      await store.remove()
    })
  })
}

test('a reply looks only at conversations that are not listed yet', async () => {
  const [sqlite] = engines
  if (!sqlite) return
  const { store, bus, log, alice, conv } = await openMailboxWorld(sqlite)
  const plans: PlanStep[][] = []
  const storage = explainingStorage(store.storage, plans)
  const replies = new FriendListReplies({ storage, bus, log, limits: { listedSeconds: 0 } })
  await replies.leaving(alice.id, [check(ConversationId, conv)], new AbortController().signal)
  await replies.stop()
  expect(plans.flat().some(({ detail }) => detail.includes('lanes USING INDEX lanes_unlisted'))).toBe(true)
  await store.remove()
})
