// A reply leads to the message that it replies to, wherever that is in the conversation.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Organizer, Replies } from '../src/client.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

test('the original of a reply is found, of either side, until it is deleted here', async () => {
  const [alice, bob] = await world.friends()
  const replies = new Replies(alice.client)
  const own = await alice.client.send(bob.alias, 'What is in the pot?')
  const toOwn = await alice.client.send(bob.alias, 'Anybody?', { replyToId: own.id })
  await bob.receives('Anybody?')
  await bob.client.send(alice.alias, 'Oolong', { replyToId: own.id })
  await alice.receives('Oolong')
  const [, , received] = await alice.client.messages(bob.alias)
  expect(received?.replyToId).toBe(own.id)
  for (const reply of [toOwn, received])
    expect(reply && (await replies.originalOf(reply))).toMatchObject({
      text: 'What is in the pot?',
      isMe: true,
    })
  expect(await replies.originalOf(own)).toBeUndefined()

  await new Organizer(alice.client).removeMessages([own])
  expect(await replies.originalOf(toOwn)).toBeUndefined()
})

test('if both sides have a message of this id, it is the one of the other side', async () => {
  const [alice, bob] = await world.friends()
  await alice.client.send(bob.alias, 'mine', { id: 'same' })
  await bob.receives('mine')
  await bob.client.send(alice.alias, 'yours', { id: 'same' })
  await alice.receives('yours')
  const reply = await alice.client.send(bob.alias, 'this one', { replyToId: 'same' })
  expect(await new Replies(alice.client).originalOf(reply)).toMatchObject({ text: 'yours' })
})

test('the first unread message is named until it is read', async () => {
  const [alice, bob] = await world.friends()
  expect(await bob.client.conversation(alice.alias)).not.toHaveProperty('firstUnreadSeq')
  for (const text of ['one', 'two', 'three']) await alice.client.send(bob.alias, text)
  await bob.receives('three')
  const [first] = await bob.client.messages(alice.alias)
  expect(await bob.client.conversation(alice.alias)).toMatchObject({ unread: 3, firstUnreadSeq: first?.seq })
  await bob.client.markRead(alice.alias)
  expect(await bob.client.conversation(alice.alias)).not.toHaveProperty('firstUnreadSeq')
})
