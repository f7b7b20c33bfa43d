// Sending a message again with the same id, for an application that does not know whether it was sent.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { MemoryStore, SottoClient } from '../src/client.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

test('a message sent twice with one id is one message, in any status', async () => {
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

test('a second message with a used id does not replace the first, and fails in another conversation', async () => {
  const [alice, bob] = await world.friends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  await alice.client.send(bob.alias, 'first', { id: 'chosen' })
  expect(await alice.client.send(bob.alias, 'second', { id: 'chosen' })).toMatchObject({ text: 'first' })
  await bob.receives('first')
  // Until the first message is acknowledged, the client itself refuses its id for another contact.
  await alice.sees(bob.alias, 'chosen', 'delivered')
  // The relay accepts each id once per account, not once per conversation.
  await alice.client.send(carol.alias, 'third', { id: 'chosen' })
  expect(await alice.sees(carol.alias, 'chosen', 'failed')).toMatchObject({ failure: 'ID_REUSED' })
})

test('messages with and without a chosen id arrive in the order of the calls', async () => {
  const [alice, bob] = await world.friends()
  const texts = Array.from({ length: 40 }, (_, at) => `message ${at}`)
  const send = (text: string, at: number): Promise<unknown> =>
    alice.client.send(bob.alias, text, at % 3 === 0 ? {} : { id: `id-${at}` })
  await Promise.all(texts.map(send))
  await until('all messages have arrived', () => bob.heard.message.length === texts.length)
  expect(bob.heard.message.map(({ text }) => text)).toEqual(texts)
})

test('the client refuses an invalid message id', async () => {
  const [alice, bob] = await world.friends()
  for (const id of ['', 'two words', 'ä', 'x'.repeat(129)])
    expect(await failureOf(alice.client.send(bob.alias, 'no', { id }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  expect(await alice.client.messages(bob.alias)).toEqual([])
})

test('a client sends a message that another client stored after this client was opened', async () => {
  const [alice, bob] = await world.friends()
  alice.client.disconnect()
  const store = alice.store
  if (!(store instanceof MemoryStore)) throw new Error('alice has no MemoryStore')
  // This client opens before the message is stored, so it has not loaded the message.
  const next = await SottoClient.open({ relayUrl: world.relay.url, store })
  await alice.client.send(bob.alias, 'late', { id: 'chosen' })
  next.connect()
  expect(await next.send(bob.alias, 'late', { id: 'chosen' })).toMatchObject({ status: 'sending' })
  await bob.receives('late')
  await until(
    'the message is delivered',
    async () => (await next.messages(bob.alias))[0]?.status === 'delivered',
  )
  await next.close()
  expect(await bob.transcript(alice.alias)).toEqual(['them: late'])
})
