// Describing conversations costs the same however much is unread and however many conversations there are.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { ConversationId } from '@sotto/protocol'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { MemoryStore } from '../src/client.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** A store that keeps what was asked of it. */
class AskedStore extends MemoryStore {
  readonly asked: string[] = []
  override async listSummaries(conversationIds: readonly ConversationId[]) {
    this.asked.push(...conversationIds)
    return super.listSummaries(conversationIds)
  }
}

test('a message leads to one look at its conversation, and to none at others', async () => {
  const store = new AskedStore()
  const alice = await world.join('alice', { store })
  const [bob, carol] = [await world.join('bob'), await world.join('carol')]
  const [withBob, withCarol] = [await alice.befriend(bob), await alice.befriend(carol)]
  for (const text of ['one', 'two', 'three']) await bob.client.send(alice.alias, text)
  await carol.client.send(alice.alias, 'hello')
  await alice.receives('three')
  await alice.receives('hello')
  await alice.client.conversations()
  store.asked.length = 0
  await bob.client.send(alice.alias, 'four')
  await alice.receives('four')
  for (let again = 0; again < 3; again++)
    expect((await alice.client.conversations()).map(({ unread }) => unread)).toEqual([4, 1])
  expect(store.asked).toEqual([withBob])
  expect((await alice.client.conversation(withCarol)).lastMessage?.text).toBe('hello')

  await alice.client.markRead(withBob)
  store.asked.length = 0
  expect((await alice.client.conversations()).map(({ unread }) => unread)).toEqual([0, 1])
  expect(store.asked).toEqual([withBob])
})

test('a description has every change at once: reading, retracting, removing, verifying, and a new last message', async () => {
  const [alice, bob, conversation] = await world.friends()
  const described = () => alice.client.conversation(conversation)
  const sent = await bob.client.send(alice.alias, 'one')
  await bob.client.send(alice.alias, 'two')
  await alice.receives('two')
  expect(await described()).toMatchObject({ unread: 2, firstUnreadSeq: 1, isVerified: false })
  await bob.client.retract(alice.alias, sent.id)
  await until('it is retracted', () => alice.heard.retracted[0])
  expect(await described()).toMatchObject({ unread: 1, firstUnreadSeq: 2 })
  await alice.client.markVerified(bob.alias)
  await alice.client.markRead(bob.alias)
  const after = await described()
  expect(after).toMatchObject({ unread: 0, isVerified: true })
  expect(after).not.toHaveProperty('firstUnreadSeq')
  const answer = await alice.client.send(bob.alias, 'three')
  expect((await described()).lastMessage).toMatchObject({ text: 'three' })
  await alice.sees(bob.alias, answer.id, 'delivered')
  expect((await described()).lastMessage?.status).toBe('delivered')
})

test('who is forgotten while the list is being read is not in it, and the list is read nonetheless', async () => {
  const read = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  let isHeld = false
  /** A store whose summaries are read late. */
  class LateStore extends MemoryStore {
    override async listSummaries(conversationIds: readonly ConversationId[]) {
      const summaries = await super.listSummaries(conversationIds)
      if (isHeld) await read.promise
      return summaries
    }
  }
  const [alice, bob] = await world.friends({
    store: new LateStore(),
    fetch: async (url, init) => {
      if (isHeld) {
        asked.resolve()
        await answered.promise
      }
      return fetch(url, init)
    },
  })
  await alice.client.markVerified(bob.alias)
  isHeld = true
  const listed = alice.client.conversations()
  const described = failureOf(alice.client.conversation(bob.alias))
  const renewed = alice.client.renewSession(bob.alias)
  // The relay is asked for the new keys once the contact is forgotten.
  await asked.promise
  read.resolve()
  expect(await listed).toEqual([])
  expect(await described).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  answered.resolve()
  await renewed
  expect(await alice.client.conversations()).toMatchObject([
    { isVerified: false, renewedAt: expect.any(Number) },
  ])
})
