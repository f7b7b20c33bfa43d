// What the user decides about conversations and messages: it is stored, shown in the list, and stays on this
// device.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { MemoryStore, Organizer, type StoredMessage } from '../src/client.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { makePeer } from './hostile-relay.ts'
import { HostileWorld, idOf, msg, textsOf } from './hostile-world.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()
const hostile = new HostileWorld()
const root = await mkdtemp(join(tmpdir(), 'sotto-organizer-'))
afterAll(async () => {
  await hostile.stop()
  await rm(root, { recursive: true })
})

const textsIn = (messages: readonly StoredMessage[]): string[] => messages.map(({ text }) => text)

test('decisions are in the list, are stored, and each can be taken back', async () => {
  const store = new MemoryStore()
  const [alice, bob, conversationId] = await world.friends({ store })
  const organizer = new Organizer(alice.client)
  const draftReplyToId = crypto.randomUUID()
  await organizer.set(bob.alias, { name: ' Bobby\u202E ', mutedUntil: 7, draft: 'Dear', draftReplyToId })
  await organizer.set(conversationId, { pinned: 2, archived: true, markedUnread: true })
  const texts = { name: 'Bobby', draft: 'Dear', draftReplyToId }
  const decided = { ...texts, mutedUntil: 7, pinned: 2, archived: true, markedUnread: true } as const
  expect(await alice.client.conversation(bob.alias)).toMatchObject({ ...decided, nickname: 'bob' })
  expect(await store.listSettings()).toEqual([{ conversationId: expect.any(String), ...decided }])
  await until('it is told', () =>
    alice.heard.changes
      .flat()
      .some((change) => change.kind === 'conversation' && change.conversationId === conversationId),
  )

  await alice.client.close()
  store.reopen()
  const again = await world.open('alice', { store })
  expect(await again.client.conversation(bob.alias)).toMatchObject(decided)
  const all = {
    ...{ name: undefined, pinned: undefined, mutedUntil: undefined },
    ...{ archived: false, draft: '', draftReplyToId: undefined, markedUnread: false },
  }
  await new Organizer(again.client).set(bob.alias, all)
  expect(await store.listSettings()).toEqual([{ conversationId: expect.any(String) }])
})

test('sending what was a draft ends the draft in the same write, and only this one', async () => {
  const [alice, bob] = await world.friends()
  const organizer = new Organizer(alice.client)
  await organizer.set(bob.alias, { draft: 'Dear Bob', draftReplyToId: 'an-id', pinned: 1 })
  await alice.client.send(bob.alias, 'in between')
  expect(await alice.client.conversation(bob.alias)).toMatchObject({ draft: 'Dear Bob' })
  const writes: string[][] = []
  const write = alice.store.write.bind(alice.store)
  alice.store.write = (changes) => {
    writes.push(changes.map(({ change }) => change))
    return write(changes)
  }
  await alice.client.send(bob.alias, 'Dear Bob', { endsDraft: true })
  expect(writes).toContainEqual(['message', 'outbox_added', 'settings'])
  expect(await alice.store.listSettings()).toEqual([{ conversationId: expect.any(String), pinned: 1 }])
})

test('bad decisions are refused and change nothing', async () => {
  const [alice, bob] = await world.friends()
  const organizer = new Organizer(alice.client)
  for (const [contact, decisions, code] of [
    ['nobody', { pinned: 1 }, 'UNKNOWN_CONTACT'],
    [bob.alias, { name: 'x'.repeat(101) }, 'INVALID_ARGUMENT'],
    [bob.alias, { draft: 'x'.repeat(1_048_577) }, 'INVALID_ARGUMENT'],
    [bob.alias, { draftReplyToId: '' }, 'INVALID_ARGUMENT'],
    [bob.alias, { pinned: Number.NaN }, 'INVALID_ARGUMENT'],
  ] as const)
    expect(await failureOf(organizer.set(contact, decisions))).toMatchObject({ code })
  expect(await alice.store.listSettings()).toEqual([])
})

test('pinned conversations come first in their order', async () => {
  const alice = await world.join('alice')
  const names: string[] = []
  for (const name of ['bob', 'carol', 'dave']) {
    const friend = await world.join(name)
    await alice.befriend(friend)
    await alice.client.send(friend.alias, `to ${name}`)
    names.push(friend.alias)
  }
  const organizer = new Organizer(alice.client)
  const [bob = '', carol = '', dave = ''] = names
  await organizer.set(carol, { pinned: 2 })
  await organizer.set(bob, { pinned: 1 })
  expect((await alice.client.conversations()).map(({ contactId }) => contactId)).toEqual([bob, carol, dave])
})

test('a received message takes a conversation out of the archive, unless it is muted', async () => {
  const [alice, bob] = await world.friends()
  const organizer = new Organizer(alice.client)
  const isArchived = async () => (await alice.client.conversation(bob.alias)).archived === true
  await organizer.set(bob.alias, { archived: true, mutedUntil: Number.MAX_SAFE_INTEGER })
  await bob.client.send(alice.alias, 'first')
  await alice.receives('first')
  await alice.client.send(bob.alias, 'mine')
  expect(await isArchived()).toBe(true)
  await organizer.set(bob.alias, { mutedUntil: 1 })
  await bob.client.send(alice.alias, 'second')
  await alice.receives('second')
  expect(await isArchived()).toBe(false)
})

test('a deleted message is gone here and stays at the contact; once closed, the file does not have its text', async () => {
  const folder = join(root, 'deleted')
  const [alice, bob] = await world.friends({ store: await FileStore.open(folder) })
  const organizer = new Organizer(alice.client)
  await alice.client.send(bob.alias, 'my secret')
  await bob.receives('my secret')
  await bob.client.send(alice.alias, 'your secret')
  await alice.receives('your secret')
  await organizer.removeMessages(await alice.client.messages(bob.alias))
  expect(await alice.client.messages(bob.alias)).toEqual([])
  expect(await alice.client.conversation(bob.alias)).toMatchObject({ lastMessage: undefined, unread: 0 })
  expect(textsIn(await bob.client.messages(alice.alias))).toEqual(['my secret', 'your secret'])

  // The contact reads and retracts what is gone here: nothing is shown.
  const [, theirs] = await bob.client.messages(alice.alias)
  await bob.client.markRead(alice.alias)
  await bob.client.retract(alice.alias, theirs?.id ?? '')
  await bob.client.send(alice.alias, 'later')
  await alice.receives('later')
  expect(textsIn(await alice.client.messages(bob.alias))).toEqual(['later'])
  expect(alice.heard.retracted).toEqual([])
  expect(alice.heard.status_change.filter(({ message }) => message.status === 'read')).toEqual([])
  await alice.client.close()
  expect(await readFile(join(folder, 'store.log'), 'utf8')).not.toContain('secret')
})

test('clearing a conversation also clears what waits to be sent, and nothing of another one', async () => {
  const [alice, bob] = await world.friends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  const organizer = new Organizer(alice.client)
  await bob.client.send(alice.alias, 'before')
  await alice.receives('before')
  alice.client.disconnect()
  await alice.client.send(bob.alias, 'unsent')
  await alice.client.send(carol.alias, 'to carol')
  const [waiting] = (await alice.client.messages(bob.alias)).filter(({ isMe }) => isMe)
  await organizer.clear(bob.alias)
  expect(await alice.client.countUnsent()).toBe(1)
  await alice.client.send(bob.alias, 'after')
  await alice.connect()
  await carol.receives('to carol')
  await bob.receives('after')
  expect(textsIn(await alice.client.messages(bob.alias))).toEqual(['after'])
  expect(textsIn(await bob.client.messages(alice.alias))).toEqual(['before', 'after'])
  expect(waiting?.text).toBe('unsent')
})

test('a deleted message that waits to be sent is not sent, in this run or the next', async () => {
  const [alice, bob] = await world.friends()
  alice.client.disconnect()
  const unsent = await alice.client.send(bob.alias, 'unsent')
  const later = await alice.client.send(bob.alias, 'later')
  await new Organizer(alice.client).removeMessages([unsent])
  expect(await alice.client.countUnsent()).toBe(1)
  expect((await alice.store.listOutbox()).map(({ internalId }) => internalId)).toEqual([later.id])
  await alice.connect()
  await bob.receives('later')
  expect(textsIn(await bob.client.messages(alice.alias))).toEqual(['later'])
})

test('a message whose id belongs to another conversation is not taken out of the outbox', async () => {
  const [alice, bob, conversationId] = await world.friends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  alice.client.disconnect()
  const { id } = await alice.client.send(carol.alias, 'to carol')
  const { conversationId: branded } = (await alice.client.send(bob.alias, 'x')) as StoredMessage
  expect(branded as string).toBe(conversationId)
  await new Organizer(alice.client).removeMessages([{ conversationId: branded, isMe: true, id }])
  await alice.connect()
  await carol.receives('to carol')
})

test('deleting a delivered message leaves a message of the same id in another conversation in the outbox', async () => {
  const [alice, bob] = await world.friends()
  const carol = await world.join('carol')
  await alice.befriend(carol)
  await alice.client.send(bob.alias, 'to bob', { id: 'same' })
  const delivered = await alice.sees(bob.alias, 'same', 'delivered')
  alice.client.disconnect()
  await alice.client.send(carol.alias, 'to carol', { id: 'same' })
  await new Organizer(alice.client).removeMessages([delivered])
  expect(await alice.client.countUnsent()).toBe(1)
})

test('clearing a conversation also deletes what cannot be decrypted yet, which does not come back', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const victim = await hostile.victim([bob, carol])
  const unreadable = { crypto_v: 2 }
  const frame = msg(bob, victim, 1, 'secret')
  hostile.relay.send({ ...frame, ...unreadable })
  hostile.relay.send(msg(carol, victim, 2, 'of carol', unreadable))
  await until('both are stored', async () => (await victim.store.countOfflineMessages()) === 2)
  await new Organizer(victim.client).clear(bob.conversationId)
  expect((await victim.store.listOfflineMessages()).map(({ seq }) => seq)).toEqual([2])
  for (const repeated of [frame, { ...frame, seq: 3, id: 'another' }, msg(bob, victim, 4, 'new')])
    hostile.relay.send(repeated)
  await victim.receives('new')
  expect(await textsOf(victim, bob)).toEqual(['new'])
})

test('a deleted message does not come back, however the relay repeats it', async () => {
  const bob = makePeer('bob')
  const victim = await hostile.victim([bob])
  const organizer = new Organizer(victim.client)
  const frame = msg(bob, victim, 1, 'secret')
  hostile.relay.send(frame)
  await victim.receives('secret')
  await organizer.clear(bob.conversationId)
  for (const repeated of [
    frame,
    { ...frame, seq: 2 },
    { ...frame, seq: 3, id: 'another' },
    msg(bob, victim, 1, 'secret'),
    { ...msg(bob, victim, 4, 'secret'), id: idOf('secret') },
    msg(bob, victim, 5, 'new'),
  ])
    hostile.relay.send(repeated)
  await victim.receives('new')
  expect(await textsOf(victim, bob)).toEqual(['new'])
  expect(victim.heard.message.map(({ text }) => text)).toEqual(['secret', 'new'])
})
