// Messages that the relay refuses: what the application learns of them, and what it can do with them.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { type OutgoingContent, type StoredMessage, UnsentMessages } from '../src/client.ts'
import { makePeer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld()
const unsentOf = ({ client }: Person): UnsentMessages => new UnsentMessages(client)
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
  // Two calls at once, and a third one later, as after a takeover of another tab.
  const calls = [1, 2].map(() => unsentOf(alice).resend(bob.alias, failed.id))
  const [resent] = await Promise.all(calls)
  if (!resent) throw new Error('nothing was sent again')
  expect(resent).toMatchObject({ status: 'sending', msgType: 'voice', mediaUrl: MEDIA_KEY })
  expect([resent.failure, resent.replyToId]).toEqual([undefined, 'earlier'])
  await alice.sees(bob.alias, resent.id, 'delivered')
  expect(await unsentOf(alice).resend(bob.alias, failed.id)).toMatchObject({ id: resent.id })
  const own = await alice.client.messages(bob.alias)
  expect(own.map(({ text }) => text)).toEqual(['meanwhile', failed.text])
  const received = await bob.client.messages(alice.alias)
  expect(received.map(({ text }) => text)).toEqual(['meanwhile', failed.text])
  expect(received[1]).toMatchObject({ id: resent.id, replyToId: 'earlier' })
})

test('a message can fail and be sent again several times, whatever its id is', async () => {
  const [alice, bob] = await world.friends()
  for (const chosen of ['short', 'x'.repeat(128)]) {
    const [failed, conversation] = await refusedMessage(alice, bob, 'hello', chosen)
    const ids = [chosen]
    for (let time = 0; time < 11; time += 1) {
      const { id } = await unsentOf(alice).resend(conversation, ids.at(-1) ?? '')
      await alice.sees(conversation, id, 'failed')
      ids.push(id)
    }
    expect(new Set(ids).size).toBe(12)
    expect(failed.id).toBe(chosen)
    expect((await alice.client.messages(conversation)).at(-1)?.id).toBe(ids.at(-1) as never)
    await alice.befriend(bob)
    await unsentOf(alice).resend(conversation, ids.at(-1) ?? '')
    await until('bob has got it', async () => (await bob.transcript(alice.alias)).at(-1) === 'them: hello')
  }
})

test('a message that has not failed is not sent again', async () => {
  const [alice, bob] = await world.friends()
  const { id } = await alice.client.send(bob.alias, 'once')
  await alice.sees(bob.alias, id, 'delivered')
  const refused = { code: 'INVALID_ARGUMENT' }
  expect(await failureOf(unsentOf(alice).resend(bob.alias, id))).toMatchObject(refused)
  expect(await failureOf(unsentOf(alice).drop(bob.alias, id))).toMatchObject(refused)
  expect(await failureOf(unsentOf(alice).resend(bob.alias, 'unknown'))).toMatchObject({
    code: 'UNKNOWN_MESSAGE',
  })
  await unsentOf(alice).drop(bob.alias, 'unknown')
  const [failed, conversation] = await refusedMessage(alice, bob, 'regretted')
  await alice.client.retract(conversation, failed.id)
  expect(await failureOf(unsentOf(alice).resend(conversation, failed.id))).toMatchObject(refused)
})

test('resend never takes another message of the next id for the one that it sends again', async () => {
  const [alice, bob] = await world.friends()
  await alice.client.send(bob.alias, 'another', { id: 'm~2' })
  await alice.sees(bob.alias, 'm~2', 'delivered')
  const [failed, conversation] = await refusedMessage(alice, bob, 'hello', 'm~1')
  expect(await failureOf(unsentOf(alice).resend(conversation, failed.id))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  expect((await alice.client.messages(conversation)).map(({ text }) => text)).toEqual(['another', 'hello'])
})

test('drop deletes a failed message here, and nothing is sent for it', async () => {
  const recorder = new Recorder()
  const [alice, bob] = await world.friends(recorder)
  const [failed, conversation] = await refusedMessage(alice, bob, 'no')
  await unsentOf(alice).drop(conversation, failed.id)
  expect(await alice.client.messages(conversation)).toEqual([])
  await unsentOf(alice).drop(conversation, failed.id)
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
  await unsentOf(alice).drop(bob.alias, dropped.id)
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
  await unsentOf(person).drop('bob', sent.id)
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
  chosenId: string = crypto.randomUUID(),
): Promise<[StoredMessage, string]> {
  const { conversationId } = await alice.client.conversation(bob.alias)
  await bob.client.removeFriend(bob.client.friends()[0]?.friendship_id ?? 0)
  const { id } = await alice.client.send(conversationId, content, {
    ...{ replyToId: 'earlier', id: chosenId },
  })
  return [await alice.sees(conversationId, id, 'failed'), conversationId]
}
