// Messages that the relay refuses: what the application learns of them, and what it can do with them.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import type { OutgoingContent, StoredMessage } from '../src/client.ts'
import { makePeer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(60_000)

const world = new PeopleWorld()
const MEDIA_KEY = `m_${'A'.repeat(22)}.h${'b'.repeat(43)}`

test('after NOT_FRIENDS the client fetches its friends, and the contact is none any more', async () => {
  const [alice, bob] = await world.friends()
  await bob.client.block(alice.alias)
  const sent = await alice.client.send(bob.alias, 'too late')
  expect(await alice.sees(bob.alias, sent.id, 'failed')).toMatchObject({ failure: 'NOT_FRIENDS' })
  await until('bob is no friend of alice any more', () => alice.client.friends().length === 0)
  expect(await alice.client.conversation(bob.alias)).toMatchObject({ isFriend: false })
})

test('resend sends a failed message as a new one at the end, once, and the failed one is gone', async () => {
  const [alice, bob] = await world.friends()
  const [failed] = await refusedMessage(alice, bob, { kind: 'voice', mediaKey: MEDIA_KEY, durationMs: 1500 })
  await alice.befriend(bob)
  await alice.client.send(bob.alias, 'meanwhile')
  const resent = await alice.client.resend(bob.alias, failed.id, { id: 'again' })
  expect(resent).toMatchObject({ id: 'again', status: 'sending', msgType: 'voice', mediaUrl: MEDIA_KEY })
  expect(resent.failure).toBeUndefined()
  expect(resent.replyToId).toBe('earlier')
  // As after a takeover of another tab, which repeats the request.
  expect(await alice.client.resend(bob.alias, failed.id, { id: 'again' })).toMatchObject({ id: 'again' })
  await alice.sees(bob.alias, 'again', 'delivered')
  expect((await alice.client.messages(bob.alias)).map(({ id }) => id).at(-1)).toBe('again')
  expect((await alice.client.messages(bob.alias)).length).toBe(2)
  const received = await bob.client.messages(alice.alias)
  expect(received.map(({ text }) => text)).toEqual(['meanwhile', failed.text])
  expect(received[1]).toMatchObject({ id: 'again', replyToId: 'earlier' })
})

test('of two calls of resend for one message one sends it', async () => {
  const [alice, bob] = await world.friends()
  const [failed] = await refusedMessage(alice, bob, 'hello')
  await alice.befriend(bob)
  const results = await Promise.allSettled([1, 2].map(() => alice.client.resend(bob.alias, failed.id)))
  expect(results).toMatchObject([
    { status: 'fulfilled', value: { text: 'hello' } },
    { status: 'rejected', reason: { code: 'UNKNOWN_MESSAGE' } },
  ])
  await bob.receives('hello')
  expect(await alice.transcript(bob.alias)).toHaveLength(1)
})

test('a message that has not failed is not sent again', async () => {
  const [alice, bob] = await world.friends()
  const { id } = await alice.client.send(bob.alias, 'once')
  await alice.sees(bob.alias, id, 'delivered')
  const refused = { code: 'INVALID_ARGUMENT' }
  expect(await failureOf(alice.client.resend(bob.alias, id))).toMatchObject(refused)
  expect(await failureOf(alice.client.drop(bob.alias, id))).toMatchObject(refused)
  expect(await failureOf(alice.client.resend(bob.alias, 'unknown'))).toMatchObject({
    code: 'UNKNOWN_MESSAGE',
  })
  await alice.client.drop(bob.alias, 'unknown')
  const [failed, conversation] = await refusedMessage(alice, bob, 'regretted')
  await alice.client.retract(conversation, failed.id)
  expect(await failureOf(alice.client.resend(conversation, failed.id))).toMatchObject(refused)
})

test('drop deletes a failed message here, and nothing is sent for it', async () => {
  const recorder = new Recorder()
  const [alice, bob] = await world.friends(recorder)
  const [failed, conversation] = await refusedMessage(alice, bob, 'no')
  await alice.client.drop(conversation, failed.id)
  expect(await alice.client.messages(conversation)).toEqual([])
  await alice.client.drop(conversation, failed.id)
  await alice.befriend(bob)
  await alice.client.send(bob.alias, 'the next')
  await bob.receives('the next')
  expect(recorder.framesOf('retract')).toEqual([])
})

test('drop keeps an unsent message from being sent, and the next messages follow', async () => {
  const [alice, bob] = await world.friends()
  alice.client.disconnect()
  const dropped = await alice.client.send(bob.alias, 'dropped')
  await alice.client.send(bob.alias, 'kept')
  await alice.client.drop(bob.alias, dropped.id)
  expect(await alice.transcript(bob.alias)).toEqual(['me: kept [sending]'])
  await alice.connect()
  await bob.receives('kept')
  await until('nothing is unsent', async () => (await alice.client.countUnsent()) === 0)
  expect(bob.heard.message.map(({ text }) => text)).toEqual(['kept'])
  expect(alice.heard.error).toEqual([])
})

test('a message that the relay has already is retracted when it is dropped before its acknowledgement', async () => {
  const hostile = new HostileWorld()
  const bob = makePeer('bob')
  const person = await hostile.victim([bob])
  const sent = await person.client.send('bob', 'under way')
  await until('it is under way', () => hostile.relay.framesOf('msg').length === 1)
  await person.client.drop('bob', sent.id)
  hostile.relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 1, at: 1 })
  const frame = await until('it is retracted', () => hostile.relay.framesOf('retract')[0])
  expect(frame).toMatchObject({ id: sent.id, conv_id: bob.conversationId })
  hostile.relay.send({ type: 'retract_ack', id: sent.id, conv_id: bob.conversationId })
  await until('nothing is unsent', async () => (await person.client.countUnsent()) === 0)
  expect(await person.client.messages('bob')).toEqual([])
  expect(person.heard.status_change).toEqual([])
  await hostile.stop()
})

/** A message of alice that failed, because bob had ended the friendship, and the id of the conversation. */
async function refusedMessage(
  alice: Person,
  bob: Person,
  content: string | OutgoingContent,
): Promise<[StoredMessage, string]> {
  const { conversationId } = await alice.client.conversation(bob.alias)
  await bob.client.removeFriend(bob.client.friends()[0]?.friendship_id ?? 0)
  const { id } = await alice.client.send(conversationId, content, { replyToId: 'earlier' })
  return [await alice.sees(conversationId, id, 'failed'), conversationId]
}
