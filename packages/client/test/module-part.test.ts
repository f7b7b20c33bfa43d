// A module's part next to the store, with a client that runs here. test/browser/module-part.test.ts has tabs.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { deviceOf } from '../src/module-access.ts'
import { PeopleWorld } from './people-world.ts'
import { closedParts, WordCount } from './word-count.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

test('a module calls its part and gets its events; two of the same module share the part', async () => {
  const [alice, bob] = await world.friends()
  const b = bob.alias
  const [first, second] = [new WordCount(alice.client), new WordCount(alice.client)]
  const heard: unknown[] = []
  second.onCounted((count) => heard.push(count))
  const stop = second.onCounted(() => {
    throw new Error('a fault of the application')
  })
  await alice.client.send(b, 'one two')
  await alice.client.send(b, 'three')
  expect(await first.count(b)).toEqual({ contact: b, words: 3 })
  expect(heard).toEqual([{ contact: b, words: 3 }])
  expect(alice.heard.error).toMatchObject([{ code: 'HANDLER_FAILED' }])
  stop()
  await second.count(b)
  expect(alice.heard.error.length).toBe(1)
  expect(await first.calls()).toBe(2)
  expect(await failureOf(first.count('nobody'))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
})

test('a part finishes before the store is closed', async () => {
  const [alice, bob] = await world.friends()
  const b = bob.alias
  const words = new WordCount(alice.client)
  await words.count(b)
  closedParts.length = 0
  await alice.client.close()
  expect(closedParts).toEqual([1])
  expect(await failureOf(words.count(b))).toMatchObject({ code: 'CLOSED' })
})

test('a part that cannot finish does not keep the client from closing its store', async () => {
  const alice = await world.join('alice')
  expect(await new WordCount(alice.client).calls()).toBe(0)
  const isOver = Array.fromAsync(alice.client.events('message'))
  deviceOf(alice.client).closing.unshift(() => Promise.reject(new Error('the rest was not stored')))
  closedParts.length = 0
  expect(await failureOf(alice.client.close())).toMatchObject({ message: 'the rest was not stored' })
  expect(closedParts).toEqual([0])
  expect(await isOver).toEqual([])
  expect(await failureOf(alice.store.write([]))).toMatchObject({ code: 'CLOSED' })
})
