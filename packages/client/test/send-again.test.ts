// Sending a message again by its id, for whoever does not know whether it was sent.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore, SottoClient } from '../src/client.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(30_000)

const world = new PeopleWorld()

test('a message sent twice under one id is one message, however far it has come', async () => {
  const [alice, bob] = await world.friends()
  const send = (): Promise<unknown> => alice.client.send(bob.alias, 'once', { id: 'chosen' })
  const [first, second] = await Promise.all([send(), send()])
  expect(second).toEqual(first)
  await alice.sees(bob.alias, 'chosen', 'delivered')
  expect(await send()).toMatchObject({ id: 'chosen', status: 'delivered' })
  await alice.client.send(bob.alias, 'the end')
  await bob.receives('the end')
  expect(await bob.transcript(alice.alias)).toEqual(['them: once', 'them: the end'])
  expect(bob.heard.message.length).toBe(2)
})

test('a message whose id was used keeps its text, and another conversation may use the id', async () => {
  const [alice, bob] = await world.friends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  await alice.client.send(bob.alias, 'first', { id: 'chosen' })
  expect(await alice.client.send(bob.alias, 'second', { id: 'chosen' })).toMatchObject({ text: 'first' })
  await bob.receives('first')
  // As long as it waits for its acknowledgement, its id is refused to others at once.
  await alice.sees(bob.alias, 'chosen', 'delivered')
  // The relay knows an account's ids, not a conversation's.
  await alice.client.send(carol.alias, 'third', { id: 'chosen' })
  expect(await alice.sees(carol.alias, 'chosen', 'failed')).toMatchObject({ failure: 'ID_REUSED' })
})

test('messages with and without an id of their own keep the order of the calls', async () => {
  const [alice, bob] = await world.friends()
  const texts = Array.from({ length: 40 }, (_, at) => `message ${at}`)
  const send = (text: string, at: number): Promise<unknown> =>
    alice.client.send(bob.alias, text, at % 3 === 0 ? {} : { id: `id-${at}` })
  await Promise.all(texts.map(send))
  await until('all arrive', () => bob.heard.message.length === texts.length)
  expect(bob.heard.message.map(({ text }) => text)).toEqual(texts)
})

test('what cannot be an id is refused', async () => {
  const [alice, bob] = await world.friends()
  for (const id of ['', 'two words', 'ä', 'x'.repeat(129)])
    await expect(alice.client.send(bob.alias, 'no', { id })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  expect(await alice.client.messages(bob.alias)).toEqual([])
})

test('a message that a client before has written late is taken up and sent', async () => {
  const [alice, bob] = await world.friends()
  alice.client.disconnect()
  const store = alice.store
  if (!(store instanceof MemoryStore)) throw new Error('not the store of a person')
  // Opened before the message is there: it does not know of it.
  const next = await SottoClient.open({ relayUrl: world.relay.url, store })
  await alice.client.send(bob.alias, 'late', { id: 'chosen' })
  next.connect()
  expect(await next.send(bob.alias, 'late', { id: 'chosen' })).toMatchObject({ status: 'sending' })
  await bob.receives('late')
  await until('it is delivered', async () => (await next.messages(bob.alias))[0]?.status === 'delivered')
  await next.close()
  expect(await bob.transcript(alice.alias)).toEqual(['them: late'])
})
