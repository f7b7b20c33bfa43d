// Friend lists that play with aliases: one contact's given to another, two to one, one after another without end.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import type { Person } from './people.ts'

setDefaultTimeout(30_000)

let world: HostileWorld
let relay: HostileRelay
beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

const lists = async (person: Person, friends: readonly object[]): Promise<void> => {
  relay.friends = friends
  await person.client.syncFriends()
}

test('a contact’s alias leads to nobody else, wherever in a list the contact itself stands', async () => {
  const [bob, mallory] = [makePeer('bob'), makePeer('bob')]
  for (const order of [
    [friendOf(mallory), friendOf(bob)],
    [friendOf(bob), friendOf(mallory)],
    [friendOf(mallory), friendOf(bob, { alias_id: 'robert' })],
  ]) {
    relay.friends = []
    const person = await world.victim([bob])
    await lists(person, order)
    expect(person.heard.security_violation.map(({ contactId }) => contactId)).toEqual(['bob'])
    expect((await person.client.conversation('bob')).conversationId).toBe(bob.conversationId)
    await expect(person.client.send('bob', 'for bob')).rejects.toMatchObject({ code: 'KEY_CHANGED' })
    await expect(person.client.conversation(mallory.conversationId)).rejects.toMatchObject({
      code: 'UNKNOWN_CONTACT',
    })
    await person.client.close()
  }
})

test('an alias that a list gives to two leads to the first, and the other gets no conversation', async () => {
  const [bob, mallory] = [makePeer('bob'), makePeer('robert')]
  const person = await world.victim([bob])
  await lists(person, [friendOf(bob, { alias_id: 'robert' }), friendOf(mallory)])
  expect((await person.client.conversation('robert')).conversationId).toBe(bob.conversationId)
  await expect(person.client.conversation(mallory.conversationId)).rejects.toMatchObject({
    code: 'UNKNOWN_CONTACT',
  })
})

test('no alias is taken from an entry with other keys than the contact’s', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  await lists(person, [friendOf(makePeer('mallory', bob.conversationId)), friendOf(bob)])
  await expect(person.client.conversation('mallory')).rejects.toMatchObject({ code: 'UNKNOWN_CONTACT' })
})

test('a relay that renames a contact without end is followed to a bounded number of aliases', async () => {
  const [store, bob] = [new MemoryStore(), makePeer('bob')]
  const person = await world.victim([bob], store)
  for (let turn = 0; turn < 150; turn += 1) {
    await lists(person, [friendOf(bob, { alias_id: `bob_${turn}` })])
    await lists(person, [friendOf(bob)])
  }
  const [session] = await store.listSessions()
  expect(new Set(session?.formerAliasIds).size).toBe(session?.formerAliasIds?.length ?? 0)
  expect(session?.formerAliasIds?.length).toBeLessThanOrEqual(100)
  // What was followed stays the contact's, and the contact can be written to.
  for (const alias of ['bob', 'bob_0', session?.theirAliasId ?? ''])
    expect((await person.client.conversation(alias)).conversationId).toBe(bob.conversationId)
})

test('nobody else is made to go by the own alias: not as a new contact, not as one renamed, not in a frame', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  const own = person.alias
  await lists(person, [friendOf(makePeer(own)), friendOf(bob, { alias_id: own }), friendOf(carol)])
  await expect(person.client.conversation(own)).rejects.toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect((await person.client.conversation(bob.conversationId)).contactId).toBe('bob')
  expect(await person.store.listSessions()).toHaveLength(2)
  const errors = person.heard.error.map(({ code, message }) => `${code}: ${message}`)
  expect(errors.length).toBeGreaterThanOrEqual(2) // The connection may have asked for a list of its own.
  expect(new Set(errors)).toEqual(new Set([`BAD_REPLY: the relay gives ${own} to two`]))
  const from = { from: own, to: own, conv_id: carol.conversationId }
  relay.send({ type: 'typing', ...from })
  relay.send(msg(carol, person, 1, 'by another name', from))
  await world.settled(person)
  expect(person.heard.typing).toEqual([])
  expect(person.heard.message).toEqual([])
  expect((await person.client.conversation('carol')).lastMessage).toBeUndefined()
})

test('nobody is made to go by the alias of a contact', async () => {
  const [store, bob] = [new MemoryStore(), makePeer('bob')]
  const person = await world.victim([bob], store)
  await lists(person, [friendOf(bob, { alias_id: 'robert' })])
  const { identity } = person.client
  const me = (alias_id: string) => () => ({
    body: {
      uuid: identity?.uuid,
      alias_id,
      nickname: 'victim',
      ed25519_public_key: identity?.signingPublicKey,
      x25519_public_key: identity?.ecdhPublicKey,
      created_at: '2026-01-01T00:00:00.000Z',
    },
  })
  for (const alias of ['bob', 'robert', 'Not an alias', '__proto__ ', '']) {
    relay.answers['GET /me'] = me(alias)
    await expect(person.client.syncIdentity()).rejects.toMatchObject({ code: 'BAD_REPLY' })
    expect(person.client.identity).toEqual(identity)
    expect(await store.getIdentity()).toEqual(identity)
  }
  relay.answers['GET /me'] = me('mine')
  expect(await person.client.syncIdentity()).toMatchObject({ aliasId: 'mine' })
})
