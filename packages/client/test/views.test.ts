// Values that follow a client: views get every change, with few reads, and learn of errors.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Conversation, keyVault, type StoredMessage } from '../src/client.ts'
import { makeUseQuery } from '../src/views/react.ts'
import {
  conversation,
  conversations,
  type FollowedClient,
  follow,
  friends,
  messages,
  type Query,
  queryStore,
} from '../src/views/signals.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** A query that counts how often it is read. */
function counted<T>(query: Query<T>): Query<T> & { reads: number } {
  const counting = {
    ...query,
    reads: 0,
    read: (client: FollowedClient) => {
      counting.reads += 1
      return query.read(client)
    },
  }
  return counting
}

test('lists of conversations, messages and friends follow what happens', async () => {
  const alice = await world.join('alice')
  const shown: { chats: readonly Conversation[]; texts: string[]; friends: string[] } = {
    chats: [],
    texts: [],
    friends: [],
  }
  const stops = [
    follow(alice.client, conversations(), (value = []) => {
      shown.chats = value
    }),
    follow(alice.client, friends(), (value = []) => {
      shown.friends = value.map(({ nickname }) => nickname)
    }),
  ]
  const bob = await world.join('bob')
  const id = await alice.befriend(bob)
  await until('the friend is shown', () => shown.friends.includes('bob') && shown.chats.length === 1)
  for (const contact of [id, bob.alias])
    stops.push(
      follow(alice.client, messages(contact), (value = []) => {
        shown.texts = value.map(({ text }) => text)
      }),
    )
  await bob.client.send(alice.alias, 'hello')
  await until('the message is shown', () => shown.texts.includes('hello') && shown.chats[0]?.unread === 1)
  await alice.client.markRead(id)
  await until('it is shown as read', () => shown.chats[0]?.unread === 0)
  for (const stop of stops) stop()
  const before = JSON.stringify(shown)
  await bob.client.send(alice.alias, 'after the end')
  await alice.receives('after the end')
  expect(JSON.stringify(shown)).toBe(before)
})

test('a burst of messages costs few reads, and the latest state is passed last', async () => {
  const [alice, bob, id] = await world.friends()
  const query = counted(messages(id))
  const gate = Promise.withResolvers<void>()
  const slow: Query<readonly StoredMessage[]> = {
    ...query,
    read: async (client) => {
      const found = await query.read(client)
      // Everything else happens during the first read.
      if (query.reads === 1) await gate.promise
      return found
    },
  }
  const counts: number[] = []
  const stop = follow(bob.client, slow, (value = []) => counts.push(value.length))
  await Promise.all(Array.from({ length: 100 }, (_, at) => alice.client.send(bob.alias, `${at}`)))
  await until('all arrive', () => bob.heard.message.length === 100)
  gate.resolve()
  await until('all are shown', () => counts.at(-1) === 100)
  expect(counts).toEqual([0, 100])
  expect(query.reads).toBe(2)
  stop()
})

test('what happens in another conversation is not read', async () => {
  const [alice, bob, id] = await world.friends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  await bob.client.send(alice.alias, 'first')
  await alice.receives('first')
  const [list, entry] = [counted(messages(id)), counted(conversation(id))]
  const seen: unknown[] = []
  const stops = [list, entry].map((query: Query<unknown>) =>
    follow(alice.client, query, (value) => seen.push(value)),
  )
  await until('both are read', () => seen.length === 2)
  await carol.client.send(alice.alias, 'elsewhere')
  await alice.receives('elsewhere')
  await alice.client.markRead(carol.alias)
  await bob.client.send(alice.alias, 'here')
  await alice.receives('here')
  await until('both are read again', () => seen.length >= 4)
  expect(seen.at(-1) === undefined).toBe(false)
  expect(list.reads).toBeLessThanOrEqual(3)
  for (const stop of stops) stop()
})

test('a failed read passes its error, and the value comes back after the next change', async () => {
  const [alice] = await world.friends({ secrets: keyVault(new Uint8Array(32).fill(7)) })
  const results: unknown[] = []
  const stop = follow(alice.client, conversations(), (value, error) => results.push(value?.length ?? error))
  await until('it is read', () => results.at(-1) === 1)
  await alice.client.lock()
  await until('it is told', () => results.at(-1) instanceof Error)
  expect(results.at(-1)).toMatchObject({ code: 'LOCKED' })
  await alice.client.unlock()
  await until('it is read again', () => results.at(-1) === 1)
  stop()
})

test('a store keeps its snapshot until there is a new result, and reads only for subscribers', async () => {
  const [alice, bob, id] = await world.friends()
  const query = counted(messages(id))
  const store = queryStore(alice.client, query)
  expect([store.getSnapshot(), query.reads]).toEqual([{}, 0])
  const calls = { first: 0, second: 0 }
  const stops = [
    store.subscribe(() => {
      calls.first += 1
    }),
    store.subscribe(() => {
      calls.second += 1
    }),
  ]
  await until('it is read', () => store.getSnapshot().value)
  expect(query.reads).toBe(1)
  const snapshot = store.getSnapshot()
  expect(store.getSnapshot()).toBe(snapshot)
  await alice.client.send(bob.alias, 'hello')
  await until('there is a new snapshot', () => store.getSnapshot().value?.length === 1)
  expect(calls.first).toBe(calls.second)
  for (const stop of [...stops, ...stops]) stop()
  const reads = query.reads
  await alice.client.send(bob.alias, 'unseen')
  expect(query.reads).toBe(reads)
  store.subscribe(() => {})()
  expect(query.reads).toBe(reads + 1)
})

test('the hook makes one store for queries of the same key, and another one for another client', async () => {
  const [alice, bob, id] = await world.friends()
  const dependencies: (readonly unknown[])[] = []
  const useQuery = makeUseQuery({
    useMemo: (make, given) => {
      dependencies.push(given)
      return make()
    },
    useSyncExternalStore: (_subscribe, getSnapshot) => getSnapshot(),
  })
  expect(useQuery(alice.client, messages(id, { limit: 5 }))).toEqual({})
  useQuery(alice.client, messages(id, { limit: 5 }))
  useQuery(alice.client, messages(id, { limit: 6 }))
  useQuery(bob.client, messages(id, { limit: 5 }))
  const [first, ...others] = dependencies
  expect(others.map((other) => other.every((value, at) => value === first?.[at]))).toEqual([
    true,
    false,
    false,
  ])
})
