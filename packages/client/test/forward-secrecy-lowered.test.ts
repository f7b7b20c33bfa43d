// A contact goes back to an application without forward secrecy: messages wait, and only the user's word lets
// them leave without it, until the contact has it again.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AliasId,
  ConversationId,
  conversationEndpoints,
  Epoch,
  keyPackageEndpoints,
  Payload,
} from '@sotto/protocol'
import * as v from 'valibot'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Edits, SecrecyChoices } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { FileStore } from '../src/stores/file-store.ts'
import type { OutboxIntent, StoredMessage } from '../src/stores/stores.ts'
import { forwardFriends, untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()
const folder = await mkdtemp(join(tmpdir(), 'sotto-lowered-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The account of a person on another device, which takes it over. */
async function moves(person: Person, options: { readonly forwardSecrecy?: true }): Promise<Person> {
  const mnemonic = await person.client.recoveryPhrase()
  await person.client.close()
  const moved = await world.open(person.name, options)
  await moved.client.recover({ mnemonic })
  await moved.connect()
  await moved.client.syncFriends()
  return moved
}

function tellsOf({ heard }: Person): string[] {
  return heard.secrecy.map(({ notice }) => notice.tell)
}

async function secrecyOf(person: Person, contact: string) {
  const { hasForwardSecrecy, isLowered } = await person.client.conversation(contact)
  return { hasForwardSecrecy, isLowered }
}

test('messages to a contact who went back leave by the user’s word, and have forward secrecy again by themselves', async () => {
  const [alice, before] = await forwardFriends(world)
  // So that alice owes bob no acknowledgement, which would wait at the relay.
  const last = await alice.client.send(before.alias, 'the last one with a key of its own')
  await alice.sees(before.alias, last.id, 'delivered')
  let bob = await moves(before, {})
  expect(await secrecyOf(alice, bob.alias)).toEqual({ hasForwardSecrecy: true, isLowered: undefined })

  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  expect(await secrecyOf(alice, bob.alias)).toEqual({ hasForwardSecrecy: false, isLowered: true })
  expect(tellsOf(alice)).toEqual(['began', 'lowered'])
  // Nothing changes once more.
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  expect(tellsOf(alice)).toEqual(['began', 'lowered'])
  await alice.client.send(bob.alias, 'under the one key')
  expect(await bob.receives('under the one key')).not.toHaveProperty('version')
  // Its encrypted deletion waits: at the relay it would hold up what follows.
  await alice.client.retract(bob.alias, last.id)
  for (const text of ['after a retraction', 'and once more']) {
    await alice.client.send(bob.alias, text)
    expect(await bob.receives(text)).not.toHaveProperty('version')
  }
  const hidden = (await alice.store.listOutbox()).filter(({ about }) => about)
  expect(hidden.map(({ about, payload }) => [about?.kind, payload])).toEqual([['deletion', undefined]])
  await bob.client.send(alice.alias, 'answer')
  expect(await alice.receives('answer')).not.toHaveProperty('version')

  bob = await moves(bob, { forwardSecrecy: forwardSecrecy() })
  await bob.client.send(alice.alias, 'I have it again')
  expect(await alice.receives('I have it again')).toMatchObject({ version: 3 })
  expect(await secrecyOf(alice, bob.alias)).toEqual({ hasForwardSecrecy: true, isLowered: undefined })
  await alice.client.send(bob.alias, 'so have I')
  expect(await bob.receives('so have I')).toMatchObject({ version: 3 })
})

test('what waits because the contact has left no keys leaves at once, as it was written', async () => {
  const [alice, before] = [
    await world.join('alice', { forwardSecrecy: forwardSecrecy() }),
    await world.join('bob', { forwardSecrecy: forwardSecrecy() }),
  ]
  await alice.befriend(before)
  const first = await alice.client.send(before.alias, 'first')
  await before.receives('first')
  await until('alice knows that bob has forward secrecy', async () => {
    await before.client.send(alice.alias, 'from bob')
    return (await alice.client.conversation(before.alias)).hasForwardSecrecy
  })
  const { http } = deviceOf(before.client).needEngine()
  const { devices } = await http.call(keyPackageEndpoints.listKeyPackages, {})
  for (const { device } of devices)
    await http.call(keyPackageEndpoints.deleteKeyPackages, { params: { device } })
  const bob = await moves(before, {})

  const sent = [
    await alice.client.send(bob.alias, 'waits', { replyToId: first.id }),
    await alice.client.send(bob.alias, '[img]as a text'),
  ]
  await until('there are no keys', () => tellsOf(alice).includes('no_key_packages'))
  expect(sent.map(({ version }) => version)).toEqual([3, 3])
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  expect(await bob.receives('waits')).toMatchObject({ id: sent[0]?.id, replyToId: first.id })
  expect(await bob.receives('[img]as a text')).toMatchObject({ id: sent[1]?.id, msgType: 'text' })
  for (const { id } of sent) {
    expect(await alice.sees(bob.alias, id, 'delivered')).not.toHaveProperty('version')
    expect(await failureOf(new Edits(alice.client).edit(bob.alias, id, 'other'))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  }
  expect(await alice.store.listOutbox()).toEqual([])
  expect(alice.heard.error).toEqual([])
})

test('what waits at the relay is taken back, and leaves before all that was written later', async () => {
  const [alice, before] = await forwardFriends(world)
  const last = await alice.client.send(before.alias, 'the last one with a key of its own')
  await alice.sees(before.alias, last.id, 'delivered')
  let bob = await moves(before, {})
  const waiting: StoredMessage[] = []
  for (const text of ['one', 'two', 'gone', 'three']) waiting.push(await alice.client.send(bob.alias, text))
  for (const { id } of waiting) await alice.sees(bob.alias, id, 'sent')
  expect(tellsOf(alice)).toContain('waits')
  const [one, , gone] = waiting
  if (!one || !gone) throw new Error('not all were sent')
  await alice.client.retract(bob.alias, gone.id)
  // Its deletion is at the relay, too.
  await until('the deletion has left', async () => (await alice.store.listOutbox()).length === 0)

  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  await alice.client.send(bob.alias, 'four')
  expect(await bob.receives('one')).toMatchObject({ id: one.id })
  await bob.receives('four')
  expect(bob.heard.message.map(({ text }) => text)).toEqual(['one', 'two', 'three', 'four'])
  for (const { id } of [...waiting.slice(0, 2), ...waiting.slice(3)])
    expect(await alice.sees(bob.alias, id, 'delivered')).not.toHaveProperty('version')
  const shown = (await alice.client.messages(bob.alias)).filter(({ isMe, retracted }) => isMe && !retracted)
  expect(shown.slice(-4).map(({ text }) => text)).toEqual(['one', 'two', 'three', 'four'])
  await bob.client.send(alice.alias, 'an answer')
  await alice.receives('an answer')

  bob = await moves(bob, { forwardSecrecy: forwardSecrecy() })
  await bob.client.send(alice.alias, 'I have it again')
  expect(await alice.receives('I have it again')).toMatchObject({ version: 3 })
  await alice.client.send(bob.alias, 'so have I')
  expect(await bob.receives('so have I')).toMatchObject({ version: 3 })
  expect(alice.heard.error).toEqual([])
})

test('so is what an earlier run had sent, also if the answer of the relay was lost', async () => {
  const options = { forwardSecrecy: forwardSecrecy() }
  const before = await world.join('alice', { ...options, store: await FileStore.open(folder) })
  const first = await world.join('bob', options)
  await before.befriend(first)
  await untilVersion3(before, first)
  const last = await before.client.send(first.alias, 'the last one with a key of its own')
  await before.sees(first.alias, last.id, 'delivered')
  const bob = await moves(first, {})
  const texts = ['one', 'two', 'three', 'four', 'five']
  const waiting: StoredMessage[] = []
  for (const text of texts) waiting.push(await before.client.send(bob.alias, text))
  for (const { id } of waiting) await before.sees(bob.alias, id, 'sent')
  const { http } = deviceOf(before.client).needEngine()
  before.client.disconnect()
  await new SecrecyChoices(before.client).allowOlderVersion(bob.alias)
  await before.client.send(bob.alias, 'written without a connection')
  // As if the run had ended between the request and its reply.
  const params = { conv_id: v.parse(ConversationId, waiting[0]?.conversationId) }
  const { messages } = await http.call(conversationEndpoints.withdrawMessages, { params })
  expect(messages.map(({ id }) => id)).toEqual(waiting.map(({ id }) => id))
  await before.client.close()
  const alice = await world.open('alice', { ...options, store: await FileStore.open(folder) })
  await Promise.all([alice.connect(), alice.client.send(bob.alias, 'written before the script is there')])
  await bob.receives('written before the script is there')
  expect(bob.heard.message.map(({ text }) => text)).toEqual([
    ...[...texts, 'written without a connection', 'written before the script is there'],
  ])
  expect([...before.heard.error, ...alice.heard.error]).toEqual([])
  await alice.client.close()
})

test('so is what was sent after the contact had forward secrecy again for a while', async () => {
  const [alice, first] = await forwardFriends(world)
  const choices = new SecrecyChoices(alice.client)
  let bob = await moves(first, {})
  for (const round of [1, 2]) {
    const { id } = await alice.client.send(bob.alias, `it waits in round ${round}`)
    await alice.sees(bob.alias, id, 'sent')
    await choices.allowOlderVersion(bob.alias)
    expect(await bob.receives(`it waits in round ${round}`)).toMatchObject({ id })
    bob = await moves(bob, { forwardSecrecy: forwardSecrecy() })
    await bob.client.send(alice.alias, `I have it in round ${round}`)
    await alice.receives(`I have it in round ${round}`)
    await alice.client.send(bob.alias, `so have I in round ${round}`)
    expect(await bob.receives(`so have I in round ${round}`)).toMatchObject({ version: 3 })
    bob = await moves(bob, {})
  }
  expect(alice.heard.error).toEqual([])
})

test('an edit and a deletion that are taken back leave once the contact has forward secrecy again', async () => {
  const [alice, first] = await forwardFriends(world)
  const [edited, deleted] = [
    await alice.client.send(first.alias, 'see you at fife'),
    await alice.client.send(first.alias, 'a secret'),
  ]
  for (const { id } of [edited, deleted]) await alice.sees(first.alias, id, 'delivered')
  const older = await world.open('bob', {})
  const mnemonic = await first.client.recoveryPhrase()
  first.client.disconnect()
  await older.client.recover({ mnemonic })
  await older.connect()
  await older.client.syncFriends()
  await new Edits(alice.client).edit(older.alias, edited.id, 'see you at five')
  await alice.client.retract(older.alias, deleted.id)
  await until('both have left', async () => (await alice.store.listOutbox()).length === 0)
  await new SecrecyChoices(alice.client).allowOlderVersion(older.alias)
  await alice.client.send(older.alias, 'under the one key')
  await older.receives('under the one key')
  await older.client.close()

  // The first device was only away, and has all its keys.
  await first.connect()
  await first.client.send(alice.alias, 'back again')
  await alice.receives('back again')
  const shown = async () => {
    const messages = await first.client.messages(alice.alias)
    return [edited, deleted].map(({ id }) => messages.find((each) => each.id === id))
  }
  await until('both have come', async () => {
    const [one, other] = await shown()
    return one?.text === 'see you at five' && other?.retracted === true
  })
  expect(alice.heard.error).toEqual([])
})

test('a message whose answer was lost leaves under the older version, once', async () => {
  const [alice, before] = await forwardFriends(world)
  const last = await alice.client.send(before.alias, 'the last one with a key of its own')
  await alice.sees(before.alias, last.id, 'delivered')
  const bob = await moves(before, {})
  const waiting = await alice.client.send(bob.alias, 'it waits')
  await alice.sees(bob.alias, waiting.id, 'sent')
  const sealed = (await alice.store.findMessage(waiting.conversationId, true, waiting.id)) as StoredMessage
  alice.client.disconnect()
  // The store of a device that was killed before the answer came.
  const { journal, messages } = deviceOf(alice.client).needEngine()
  const { seq: _, ...unanswered } = sealed
  const intent: OutboxIntent = {
    ...{ internalId: waiting.id, conversationId: v.parse(ConversationId, waiting.conversationId) },
    ...{ toAliasId: v.parse(AliasId, bob.alias), text: waiting.text, addedAt: waiting.time },
    ...{ version: 3, payload: v.parse(Payload, 'AAAA'), epoch: v.parse(Epoch, 1), place: 1 },
  }
  await journal.write([
    { change: 'message', message: { ...unanswered, status: 'sending' } },
    { change: 'outbox_added', intent },
  ])
  messages.outbox.accept(intent, false)
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  await alice.connect()
  expect(await bob.receives('it waits')).toMatchObject({ id: waiting.id })
  await alice.sees(bob.alias, waiting.id, 'delivered')
  expect(bob.heard.message.map(({ text }) => text)).toEqual(['it waits'])
  expect(await alice.store.listOutbox()).toEqual([])
  expect(alice.heard.error).toEqual([])
})
