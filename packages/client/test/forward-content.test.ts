// What two people at a real relay do to messages with forward secrecy: edits and reactions, and contents that
// only a hostile or a later client sends.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { encodeBase64 } from '@sotto/crypto'
import { MAX_SECRET_TEXT_BYTES } from '@sotto/crypto/version-3'
import { check, MessageId } from '@sotto/protocol'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Edits, MemoryStore, Reactions, Search, type StoredMessage } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { forwardFriends, sendContent, untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** A store that can lose the keys of its conversations. */
class LosingStore extends MemoryStore {
  loseKeys(): void {
    this.state.secrets.clear()
  }
}

/** A text that has arrived, as its sender has it. */
async function sentText(from: Person, to: Person, text: string): Promise<StoredMessage> {
  const { id } = await from.client.send(to.alias, text)
  await to.receives(text)
  return from.sees(to.alias, id, 'delivered')
}

/** A message of a conversation as a person has it now. */
async function messageOf(person: Person, contact: Person, id: string): Promise<StoredMessage | undefined> {
  return (await person.client.messages(contact.alias)).find((message) => message.id === id)
}

/** Waits until everything that was sent before is handled. */
async function settle(from: Person, to: Person): Promise<void> {
  await sentText(from, to, `settled ${crypto.randomUUID()}`)
}

const found = async (person: Person, words: string): Promise<string[]> =>
  (await new Search(person.client).find(words)).results.map(({ text }) => text)

test('an edited message has its new text on both sides, in lists and in the search', async () => {
  const [alice, bob] = await forwardFriends(world)
  const message = await sentText(alice, bob, 'see you at nine')
  expect(await found(bob, 'nine')).toEqual(['see you at nine'])
  const edited = await new Edits(alice.client).edit(bob.alias, message.id, 'see you at ten')
  expect(edited).toMatchObject({ id: message.id, text: 'see you at ten', status: 'delivered', version: 3 })
  expect(alice.heard.edited).toEqual([edited])
  const read = await until('Bob sees the edit', () => bob.heard.edited[0])
  expect(read).toMatchObject({
    id: message.id,
    text: 'see you at ten',
    editedAt: edited.editedAt,
    isMe: false,
  })
  expect(await messageOf(bob, alice, message.id)).toEqual(read)
  expect([await found(bob, 'nine'), await found(bob, 'ten')]).toEqual([[], ['see you at ten']])
  expect((await bob.client.conversation(alice.alias)).lastMessage).toEqual(read)
  await alice.client.retract(bob.alias, message.id)
  const retracted = await until('Bob sees it retracted', () => bob.heard.retracted[0])
  expect(retracted).toMatchObject({ text: '', retracted: true })
  expect(retracted).not.toHaveProperty('editedAt')
  const late = await failureOf(new Edits(alice.client).edit(bob.alias, message.id, 'after all'))
  expect(late).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('only own texts with forward secrecy are edited, and a refused edit leaves nothing', async () => {
  const [alice, bob] = await forwardFriends(world)
  const [old] = await alice.client.messages(bob.alias)
  const own = await sentText(alice, bob, 'mine')
  const theirs = await sentText(bob, alice, 'yours')
  const edits = new Edits(alice.client)
  const before = await alice.client.messages(bob.alias)
  expect(old).not.toHaveProperty('version')
  const tries: [string, string, string][] = [
    [old?.id ?? '', 'an older one', 'INVALID_ARGUMENT'],
    [theirs.id, 'not mine', 'UNKNOWN_MESSAGE'],
    ['unknown', 'nothing', 'UNKNOWN_MESSAGE'],
    ['not an id', 'nothing', 'INVALID_ARGUMENT'],
    [own.id, 'é'.repeat(MAX_SECRET_TEXT_BYTES / 2 + 1), 'MESSAGE_TOO_LARGE'],
  ]
  for (const [id, text, code] of tries)
    expect(await failureOf(edits.edit(bob.alias, id, text))).toMatchObject({ code })
  expect(await failureOf(edits.edit('nobody', own.id, 'x'))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect(await edits.edit(bob.alias, own.id, 'mine')).toEqual(own)
  expect(await alice.client.messages(bob.alias)).toEqual(before)
  expect(alice.heard.edited).toEqual([])
  const longest = 'é'.repeat(MAX_SECRET_TEXT_BYTES / 2)
  await edits.edit(bob.alias, own.id, longest)
  expect((await until('Bob sees the longest text', () => bob.heard.edited[0])).text).toBe(longest)
})

test('edits that were made offline leave as one, also from a client that starts again', async () => {
  const store = new MemoryStore()
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy(), store })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const { id } = await sentText(alice, bob, 'draft 0')
  alice.client.disconnect()
  for (const at of [1, 2, 3]) await new Edits(alice.client).edit(bob.alias, id, `draft ${at}`)
  const withdrawn = await alice.client.send(bob.alias, 'withdrawn')
  await new Edits(alice.client).edit(bob.alias, withdrawn.id, 'withdrawn again')
  await alice.client.retract(bob.alias, withdrawn.id)
  const unsent = await alice.client.send(bob.alias, 'never read so')
  await new Edits(alice.client).edit(bob.alias, unsent.id, 'read so')
  const waiting = (await store.listOutbox()).map(({ about }) => about?.kind ?? 'message')
  expect(waiting.join()).toBe('edit,edit,deletion,message,edit')
  await alice.client.close()
  store.reopen()
  const again = await world.open('alice', { forwardSecrecy: forwardSecrecy(), store })
  await again.connect()
  expect(await bob.receives('read so')).toMatchObject({ id: unsent.id, version: 3 })
  await settle(again, bob)
  expect(bob.heard.edited.map(({ text }) => text)).toEqual(['draft 3'])
  const texts = bob.heard.message.map(({ text }) => text)
  expect(texts.filter((text) => ['never read so', 'withdrawn', 'withdrawn again'].includes(text))).toEqual([])
  expect([...again.heard.error, ...bob.heard.error]).toEqual([])
})

test('edits and deletions that nobody has read come again after a rejoin', async () => {
  const store = new LosingStore()
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy() })
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy(), store })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  const edited = await sentText(alice, bob, 'first words')
  const deleted = await sentText(alice, bob, 'to be deleted')
  const reacted = await sentText(bob, alice, 'a question')
  await bob.client.close()
  await new Edits(alice.client).edit(bob.alias, edited.id, 'second words')
  await alice.client.retract(bob.alias, deleted.id)
  await new Reactions(alice.client).react({ ...reacted, isMe: false }, '👍')
  const unread = await alice.client.send(bob.alias, 'unread')
  await new Edits(alice.client).edit(bob.alias, unread.id, 'unread, and edited')
  await until('the relay has all', async () => (await alice.store.listOutbox()).length === 0)

  // The history stays, and the keys are gone.
  store.loseKeys()
  store.reopen()
  const again = await world.open('bob', { forwardSecrecy: forwardSecrecy(), store })
  await again.connect()
  await again.client.send(alice.alias, 'my keys are gone')
  await alice.receives('my keys are gone')
  const isDone = async (): Promise<boolean> => {
    const [one, two, three] = [edited, deleted, reacted].map(({ id }) => messageOf(again, alice, id))
    return (
      (await one)?.text === 'second words' &&
      (await two)?.retracted === true &&
      (await three)?.reactions?.length === 1
    )
  }
  await until('Bob has the edit, the deletion and the reaction', isDone)
  expect(await again.receives('unread, and edited')).toMatchObject({
    id: unread.id,
    editedAt: expect.anything(),
  })
  await settle(alice, again)
  const shown = await again.client.messages(alice.alias)
  expect(shown.filter(({ msgType }) => msgType === 'undecryptable')).toEqual([])
  expect(again.heard.edited.map(({ text }) => text)).toEqual(['second words'])
})

test('an edit that the relay refuses is told, and can be sent again', async () => {
  const [alice, bob] = await forwardFriends(world)
  const { id } = await sentText(alice, bob, 'first')
  await bob.client.block(alice.alias)
  const edits = new Edits(alice.client)
  await edits.edit(bob.alias, id, 'second')
  const error = await until('Alice is told', () => alice.heard.error[0])
  expect(error).toMatchObject({ code: 'REFUSED', refusal: 'NOT_FRIENDS' })
  await until('they are no friends', () => alice.client.friends().length === 0)
  await bob.client.unblock(alice.alias)
  await alice.befriend(bob)
  await edits.edit(bob.alias, id, 'second')
  expect(await until('Bob sees it', () => bob.heard.edited[0])).toMatchObject({ id, text: 'second' })
})

test('each side has one reaction to a message, which is replaced or taken back', async () => {
  const [alice, bob] = await forwardFriends(world)
  const message = await sentText(alice, bob, 'I got the job')
  const theirs = { ...message, isMe: false }
  const reactions = new Reactions(bob.client)
  expect(await reactions.react(theirs, '👍')).toMatchObject({ reactions: [{ isMe: true, text: '👍' }] })
  await reactions.react(theirs, '👨‍👩‍👧‍👦')
  const own = await new Reactions(alice.client).react(message, '❤️')
  const seen = await until('Alice sees the second one', () =>
    alice.heard.reacted.find(({ reactions: all }) => all?.some(({ text }) => text === '👨‍👩‍👧‍👦')),
  )
  expect(seen.id).toBe(own.id)
  const both = async (person: Person, contact: Person): Promise<string[]> =>
    ((await messageOf(person, contact, message.id))?.reactions ?? [])
      .map(({ isMe, text }) => `${isMe ? person.name : contact.name} ${text}`)
      .toSorted()
  const { conversationId } = message
  await until('the lists of both were told to be read again', () =>
    [alice, bob].every(({ heard }) =>
      heard.changes
        .at(-1)
        ?.some((change) => change.kind === 'messages' && change.conversationId === conversationId),
    ),
  )
  await until('both see both', async () => {
    const all = [await both(alice, bob), await both(bob, alice)]
    return all.every((each) => each.join() === 'alice ❤️,bob 👨‍👩‍👧‍👦')
  })
  await reactions.takeBack(theirs)
  await until('Alice sees it taken back', async () => (await both(alice, bob))[1] === 'bob undefined')
  const heard = bob.heard.reacted.length
  await reactions.takeBack(theirs)
  expect(bob.heard.reacted).toHaveLength(heard)
  for (const text of ['', 'a', '👍👍', '👍 ', `❤${'\u0300'.repeat(40)}`])
    expect(await failureOf(reactions.react(theirs, text))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  const unknown = await failureOf(reactions.react({ ...theirs, id: 'unknown' }, '👍'))
  expect(unknown).toMatchObject({ code: 'UNKNOWN_MESSAGE' })
  expect([...alice.heard.error, ...bob.heard.error]).toEqual([])
})

test('a hostile contact changes only its own messages, and only forwards', async () => {
  const [alice, bob] = await forwardFriends(world)
  const mine = await sentText(alice, bob, 'written by Alice')
  const theirs = await sentText(bob, alice, 'written by Bob')
  const gone = await sentText(bob, alice, 'retracted')
  await bob.client.retract(alice.alias, gone.id)
  await until('it is retracted', () => alice.heard.retracted[0])
  const before = await alice.client.messages(bob.alias)
  const at = Date.now()
  const edit = { kind: 'edit', text: 'forged', at } as const
  for (const messageId of [mine.id, gone.id, 'not-yet'])
    await sendContent(bob, alice.alias, { ...edit, messageId })
  const reaction = { kind: 'reaction', isOwn: false, at } as const
  await sendContent(bob, alice.alias, { ...reaction, messageId: mine.id, reaction: 'not an emoji' })
  await sendContent(bob, alice.alias, { ...reaction, messageId: theirs.id, reaction: '👍' })
  await sendContent(bob, alice.alias, { ...reaction, messageId: mine.id })
  await sendContent(bob, alice.alias, { kind: 'deletion', messageId: mine.id })
  await settle(bob, alice)
  const { length } = before
  const after = (await alice.client.messages(bob.alias)).slice(0, length)
  // A reaction that takes back none is remembered, so that an earlier one does not come after it.
  expect(after).toEqual(
    before.map((each) => (each.id === mine.id ? { ...each, reactions: [{ isMe: false, at }] } : each)),
  )
  expect(alice.heard.edited).toEqual([])

  // A message of the id that an edit named before.
  await bob.client.send(alice.alias, 'as it was sent', { id: 'not-yet' })
  expect(await alice.receives('as it was sent')).not.toHaveProperty('editedAt')

  const later = { kind: 'edit', messageId: theirs.id, text: 'the latest', at: at + 2 } as const
  for (const each of [later, { ...later, text: 'earlier', at: at + 1 }, { ...later, text: 'again' }])
    await sendContent(bob, alice.alias, each)
  for (const [count, emoji] of Array.from({ length: 40 }, (_, i) => [i, i % 2 ? '👍' : '🎉'] as const))
    await sendContent(bob, alice.alias, {
      ...{ kind: 'reaction', messageId: mine.id, isOwn: false, reaction: emoji, at: at + 100 - count },
    })
  await settle(bob, alice)
  expect(await messageOf(alice, bob, theirs.id)).toMatchObject({ text: 'the latest', editedAt: at + 2 })
  expect((await messageOf(alice, bob, mine.id))?.reactions).toEqual([
    { isMe: false, text: '🎉', at: at + 100 },
  ])
  expect(alice.heard.edited).toHaveLength(1)
  expect(alice.heard.error).toEqual([])
})

test('a content that only a later version knows is kept and shown as unknown', async () => {
  const [alice, bob] = await forwardFriends(world)
  const later = Uint8Array.of(1, 99, 1, 2, 0x68, 0x69)
  const id = await sendContent(bob, alice.alias, later)
  const shown = await until('Alice has it', () => alice.heard.message.find((message) => message.id === id))
  expect(shown).toMatchObject({ msgType: 'unknown', content: encodeBase64(later), text: '', version: 3 })
  expect(alice.heard.error).toEqual([])
  // What no version writes.
  const broken = await sendContent(bob, alice.alias, Uint8Array.of(1, 1))
  const unread = await until('Alice has it', () =>
    alice.heard.message.find((message) => message.id === broken),
  )
  expect(unread).toMatchObject({ msgType: 'undecryptable' })
  expect(unread).not.toHaveProperty('content')
  expect(alice.heard.error).toHaveLength(1)
})

test('what version 3 has no form for is refused, and holds up nothing if it is stored', async () => {
  const [alice, bob, conversation] = await forwardFriends(world)
  expect(await failureOf(alice.client.send(bob.alias, 'a', { replyToId: 'no id' }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  const file = { kind: 'image', mediaKey: 5 } as unknown as string
  expect(await failureOf(alice.client.send(bob.alias, file))).toMatchObject({ code: 'INVALID_ARGUMENT' })

  // As an application wrote it for version 1, where any text may stand there.
  const { sessions, journal, messages } = deviceOf(alice.client).needEngine()
  const { conversationId, theirAliasId: toAliasId } = sessions.get(conversation)
  const time = Date.now()
  for (const [id, fields] of [
    ['odd-reply', { text: 'an odd reply', replyToId: 'no id' }],
    ['odd-file', { text: '[img]m_0', msgType: 'image', mediaUrl: 'm_0#no key' }],
  ] as const) {
    const internalId = check(MessageId, id)
    const intent = { internalId, conversationId, toAliasId, text: '', addedAt: time, version: 3 } as const
    const message = {
      id: internalId,
      conversationId,
      isMe: true,
      time,
      status: 'sending',
      version: 3,
    } as const
    await journal.write([
      { change: 'message', message: { ...message, ...fields } },
      { change: 'outbox_added', intent },
    ])
    messages.outbox.accept(intent)
  }
  await alice.client.send(bob.alias, 'after them')
  await bob.receives('after them')
  expect(await bob.receives('an odd reply')).not.toHaveProperty('replyToId')
  expect(alice.heard.error).toEqual([])
})
