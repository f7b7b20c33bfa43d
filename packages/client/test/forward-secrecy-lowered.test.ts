// A contact goes back to an application without forward secrecy: messages wait, and only the user's word lets
// them leave without it, until the contact has it again.
import { expect, setDefaultTimeout, test } from 'bun:test'
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
import type { OutboxIntent, StoredMessage } from '../src/stores/stores.ts'
import { forwardFriends } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

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
  const [alice, before] = await forwardFriends(world)
  const last = await alice.client.send(before.alias, 'the last one with a key of its own')
  await alice.sees(before.alias, last.id, 'delivered')
  const bob = await moves(before, {})
  const waiting = await alice.client.send(bob.alias, 'it waits')
  await alice.sees(bob.alias, waiting.id, 'sent')
  const { http } = deviceOf(alice.client).needEngine()
  const conv_id = v.parse(ConversationId, waiting.conversationId)
  alice.client.disconnect()
  // As if a run had ended between the request and its reply.
  const params = { conv_id }
  expect(await http.call(conversationEndpoints.withdrawMessages, { params })).toEqual({ ids: [waiting.id] })
  await new SecrecyChoices(alice.client).allowOlderVersion(bob.alias)
  await alice.client.send(bob.alias, 'written without a connection')
  await alice.connect()
  await bob.receives('written without a connection')
  expect(bob.heard.message.map(({ text }) => text)).toEqual(['it waits', 'written without a connection'])
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
