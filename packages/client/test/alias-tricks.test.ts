// Friend lists of a hostile relay: it gives a contact's alias to another account, gives one alias to two
// accounts, or renames a contact again and again.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { MemoryStore } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer, meOf } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import type { Person } from './people.ts'

setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay
beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

const syncWith = async (person: Person, friends: readonly object[]): Promise<void> => {
  relay.friends = friends
  await person.client.syncFriends()
}

test('a contact’s alias never leads to another account, in any order of the friend list', async () => {
  const [bob, mallory] = [makePeer('bob'), makePeer('bob')]
  for (const order of [
    [friendOf(mallory), friendOf(bob)],
    [friendOf(bob), friendOf(mallory)],
    [friendOf(mallory), friendOf(bob, { alias_id: 'robert' })],
  ]) {
    relay.friends = []
    const person = await world.victim([bob])
    await syncWith(person, order)
    expect(person.heard.security_violation.map(({ contactId }) => contactId)).toEqual(['bob'])
    expect((await person.client.conversation('bob')).conversationId).toBe(bob.conversationId)
    expect(await failureOf(person.client.send('bob', 'for bob'))).toMatchObject({ code: 'KEY_CHANGED' })
    expect(await failureOf(person.client.conversation(mallory.conversationId))).toMatchObject({
      code: 'UNKNOWN_CONTACT',
    })
    await person.client.close()
  }
})

test('an alias that the friend list gives to two accounts leads to the first, and the second gets no conversation', async () => {
  const [bob, mallory] = [makePeer('bob'), makePeer('robert')]
  const person = await world.victim([bob])
  await syncWith(person, [friendOf(bob, { alias_id: 'robert' }), friendOf(mallory)])
  expect((await person.client.conversation('robert')).conversationId).toBe(bob.conversationId)
  expect(await failureOf(person.client.conversation(mallory.conversationId))).toMatchObject({
    code: 'UNKNOWN_CONTACT',
  })
})

test('the client takes no alias from an entry whose keys differ from the contact’s', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  await syncWith(person, [friendOf(makePeer('mallory', bob.conversationId)), friendOf(bob)])
  expect(await failureOf(person.client.conversation('mallory'))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
})

test('the client keeps a limited number of aliases when the relay renames a contact again and again', async () => {
  const [store, bob] = [new MemoryStore(), makePeer('bob')]
  const person = await world.victim([bob], store)
  for (let round = 0; round < 150; round += 1) {
    await syncWith(person, [friendOf(bob, { alias_id: `bob_${round}` })])
    await syncWith(person, [friendOf(bob)])
  }
  const [session] = await store.listSessions()
  expect(new Set(session?.formerAliasIds).size).toBe(session?.formerAliasIds?.length ?? 0)
  expect(session?.formerAliasIds?.length).toBeLessThanOrEqual(100)
  // The aliases that the client kept still lead to the contact, and so does the latest one.
  for (const alias of ['bob', 'bob_0', session?.theirAliasId ?? ''])
    expect((await person.client.conversation(alias)).conversationId).toBe(bob.conversationId)
})

test('nobody else can use the user’s alias: no new contact, no renamed contact, no sender of a frame', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  const own = person.alias
  await syncWith(person, [friendOf(makePeer(own)), friendOf(bob, { alias_id: own }), friendOf(carol)])
  expect(await failureOf(person.client.conversation(own))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect((await person.client.conversation(bob.conversationId)).contactId).toBe('bob')
  expect(await person.store.listSessions()).toHaveLength(2)
  const errors = person.heard.error.map(({ code, message }) => `${code}: ${message}`)
  expect(errors.length).toBeGreaterThanOrEqual(2) // The connection may have requested the list too.
  expect(new Set(errors)).toEqual(new Set([`BAD_REPLY: friend list: ${own} names two accounts`]))
  const from = { from: own, to: own, conv_id: carol.conversationId }
  relay.send({ type: 'typing', ...from })
  relay.send(msg(carol, person, 1, 'by another name', from))
  await world.settled(person)
  expect(person.heard.typing).toEqual([])
  expect(person.heard.message).toEqual([])
  expect((await person.client.conversation('carol')).lastMessage).toBeUndefined()
})

test('the relay cannot give the user a contact’s alias or an invalid one', async () => {
  const [store, bob] = [new MemoryStore(), makePeer('bob')]
  const person = await world.victim([bob], store)
  await syncWith(person, [friendOf(bob, { alias_id: 'robert' })])
  const { identity } = person.client
  const me = (alias_id: string) => () => meOf(person.client, { alias_id })
  for (const alias of ['bob', 'robert', 'Not an alias', '__proto__ ', '']) {
    relay.answers['GET /me'] = me(alias)
    expect(await failureOf(person.client.syncIdentity())).toMatchObject({ code: 'BAD_REPLY' })
    expect(person.client.identity).toEqual(identity)
    expect(await store.getIdentity()).toEqual(identity)
  }
  relay.answers['GET /me'] = me('mine')
  expect(await person.client.syncIdentity()).toMatchObject({ aliasId: 'mine' })
})
