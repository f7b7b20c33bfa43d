// Contacts that change their alias: they keep their conversation, its trust, its messages and their keys.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { MemoryStore } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer, type Peer } from './hostile-relay.ts'
import { HostileWorld, idOf, msg } from './hostile-world.ts'
import { type Person, until } from './people.ts'

setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay
beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

const retractOf = (peer: Peer, person: Person, text: string, seq: number, from: string): object => ({
  type: 'retract',
  id: idOf(text),
  to: person.alias,
  conv_id: peer.conversationId,
  from,
  seq,
  at: 1000 + seq,
})

test('a contact with a new alias keeps its conversation, its trust and its unsent messages', async () => {
  const [store, bob] = [new MemoryStore(), makePeer('bob')]
  const person = await world.victim([bob], store)
  await person.client.markVerified('bob')
  const code = person.client.securityCode('bob').fingerprintHex
  person.client.disconnect()
  await person.client.send('bob', 'written before')
  relay.friends = [friendOf(bob, { alias_id: 'robert' })]
  await person.client.syncFriends()
  await person.connect()
  await until(
    'the client sends the message to the new alias',
    () => relay.framesOf('msg')[0]?.to === 'robert',
  )

  for (const contact of ['bob', 'robert', bob.conversationId]) {
    expect(await person.client.conversation(contact)).toMatchObject({ contactId: 'robert', isVerified: true })
    expect(person.client.securityCode(contact)).toMatchObject({ contactId: 'robert', fingerprintHex: code })
  }
  const sent = await person.client.send('bob', 'by the old alias')
  await until('the client has sent a message', () => relay.framesOf('msg').length === 1)
  relay.send({ type: 'ack', id: idOf('x'), conv_id: bob.conversationId, seq: 1, at: 1 })
  expect(sent.conversationId).toBe((await person.client.conversation('robert')).conversationId as never)
  expect(person.heard.security_violation).toEqual([])

  // The same holds after a restart.
  await person.client.close()
  store.reopen()
  const again = await world.open(store)
  expect(await again.client.conversation('bob')).toMatchObject({ contactId: 'robert', isVerified: true })
  expect((await again.client.messages('robert')).map(({ text }) => text)).toEqual([
    'written before',
    'by the old alias',
  ])
})

test('all earlier aliases of a contact lead to it', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  for (const alias_id of ['robert', 'bobby', 'bob', 'robert']) {
    relay.friends = [friendOf(bob, { alias_id })]
    await person.client.syncFriends()
    expect((await person.client.conversation(alias_id)).contactId).toBe(alias_id)
  }
  for (const contact of ['bob', 'bobby', 'robert'])
    expect((await person.client.conversation(contact)).conversationId).toBe(bob.conversationId)
})

test('receipts and retractions under an unknown alias count for their conversation', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 1, 'take me back'))
  await person.receives('take me back')
  const sent = await person.client.send('bob', 'mine')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 2, at: 1 })

  relay.send({ type: 'read', conv_id: bob.conversationId, seq: 2, to: person.alias, from: 'robert' })
  relay.send(retractOf(bob, person, 'take me back', 3, 'robert') as never)
  await until('the client shows the retraction', () => person.heard.retracted.length === 1)
  await person.sees('bob', sent.id, 'read')
  // The unknown alias makes the client request the friend list, which has the new alias.
  relay.friends = [friendOf(bob, { alias_id: 'robert' })]
  relay.send({ type: 'typing', to: person.alias, conv_id: bob.conversationId, from: 'robert' })
  await until(
    'the client knows the new alias',
    async () => (await person.client.conversation('bob')).contactId === 'robert',
  )
})

test('a contact with a new alias can retract a message that the client cannot read yet', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([carol])
  relay.send(msg(bob, person, 1, 'never shown'))
  relay.send(msg(bob, person, 2, 'shown'))
  relay.send(retractOf(bob, person, 'never shown', 3, 'robert') as never)
  await world.settled(person)
  relay.friends = [friendOf(carol), friendOf(bob, { alias_id: 'robert' })]
  await person.client.syncFriends()
  relay.send(msg(bob, person, 4, 'under the new one', { from: 'robert' }))
  await person.receives('under the new one')
  // The client stored the messages under the old alias, which was never in the list. Bob's key decrypts them.
  expect(await person.transcript('robert')).toEqual(['them: shown', 'them: under the new one'])
})

test('a new alias with other keys is a security violation', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const impostor = { ...makePeer('robert', bob.conversationId) }
  relay.friends = [friendOf(impostor)]
  await person.client.syncFriends()
  expect(person.heard.security_violation.map(({ contactId }) => contactId)).toEqual(['bob'])
  expect((await person.client.conversation(bob.conversationId)).contactId).toBe('bob')
  expect(await failureOf(person.client.conversation('robert'))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect(await failureOf(person.client.send('bob', 'secret'))).toMatchObject({ code: 'KEY_CHANGED' })
})
