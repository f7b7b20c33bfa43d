// A relay that lies about accounts, keys and names: no identity, key or trust state is its to change.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MemoryStore } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { until } from './people.ts'

// A busy machine is slow; what a test waits for says itself what did not come.
setDefaultTimeout(30_000)

let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

test('a challenge for another host or account is not signed', async () => {
  const other = crypto.randomUUID()
  const lies: ((uuid: string) => string)[] = [
    (uuid) => relay.challengeFor(uuid, 'relay.example'),
    (uuid) => relay.challengeFor(uuid, `evil@${relay.host}`),
    () => relay.challengeFor(other),
    () => 'sign this',
    (uuid) => `${relay.challengeFor(uuid)}\nand more`,
    () => JSON.stringify({ type: 'call_offer', from: 'victim' }),
  ]
  for (const lie of lies) {
    const person = await world.open()
    relay.answers['POST /auth/challenge'] = ({ user_uuid }) => ({
      body: { challenge: lie(String(user_uuid)) },
    })
    await expect(person.client.create({ nickname: 'victim' })).rejects.toMatchObject({
      code: 'CHALLENGE_REFUSED',
    })
    await person.client.create({ nickname: 'victim' }).catch(() => {})
    expect(person.client.identity).toBeUndefined()
  }
  expect(relay.called).not.toContain('POST /auth/verify')
})

test('an account that is claimed to exist is believed only once a login has succeeded', async () => {
  const person = await world.open()
  relay.answers['POST /register'] = () => ({
    status: 409,
    body: { error: 'ACCOUNT_EXISTS', uuid: relay.uuid, alias_id: 'somebody_else' },
  })
  relay.answers['POST /auth/verify'] = () => ({ status: 401, body: { error: 'SIGNATURE_INVALID' } })
  await expect(person.client.create({ nickname: 'victim' })).rejects.toMatchObject({
    refusal: 'SIGNATURE_INVALID',
  })
  await person.client.create({ nickname: 'victim' }).catch(() => {})
  expect(await person.store.getIdentity()).toBeUndefined()
})

test('an account that cannot be one is refused', async () => {
  for (const account of [
    { uuid: '../../etc', alias_id: 'abc' },
    { uuid: relay.uuid, alias_id: 'A B' },
    { uuid: 1, alias_id: null },
    {},
  ]) {
    const person = await world.open()
    relay.answers['POST /register'] = () => ({ status: 409, body: { error: 'ACCOUNT_EXISTS', ...account } })
    await expect(person.client.create({ nickname: 'victim' })).rejects.toBeDefined()
    expect(await person.store.getIdentity()).toBeUndefined()
  }
})

test('replies that break the protocol are errors with a code, whatever they are', async () => {
  const person = await world.victim([])
  for (const body of [
    '',
    'not json',
    '{}',
    'null',
    '[{"friendship_id":"x"}]',
    '"'.repeat(100),
    '[['.repeat(10_000),
  ]) {
    relay.answers['GET /friends'] = () => ({ body })
    await expect(person.client.syncFriends()).rejects.toMatchObject({ code: 'BAD_REPLY' })
  }
  relay.answers['GET /friends'] = () => ({ status: 400, body: { error: '__proto__' } })
  await expect(person.client.syncFriends()).rejects.toMatchObject({ code: 'BAD_REPLY' })
  relay.answers['GET /friends'] = () => ({ status: 404, body: { error: 'NOT_FOUND', detail: 5 } })
  await expect(person.client.syncFriends()).rejects.toMatchObject({ code: 'REFUSED', refusal: 'NOT_FOUND' })
})

test('changed keys are refused: nothing is decrypted, sent or overwritten, and a violation is raised', async () => {
  const store = new MemoryStore()
  const bob = makePeer('bob')
  const person = await world.victim([bob], store)
  await person.client.markVerified('bob')
  const before = {
    code: person.client.securityCode('bob'),
    sessions: await store.listSessions(),
    trust: await person.client.trustState('bob'),
  }
  const impostor = makePeer('bob', bob.conversationId)
  relay.friends = [friendOf(impostor)]
  await person.client.syncFriends()
  expect(person.heard.security_violation).toMatchObject([
    {
      type: 'security_violation',
      contactId: 'bob',
      previousFingerprint: before.code.fingerprintHex,
      message: null,
    },
  ])
  expect(person.heard.security_violation[0]?.currentFingerprint).not.toBe(before.code.fingerprintHex)

  relay.send(msg(impostor, person, 1, 'trust me'))
  relay.send(msg(bob, person, 2, 'from the real bob'))
  await until('both are refused', () => person.heard.security_violation.length >= 3)
  await world.settled(person)
  expect(person.heard.message).toEqual([])
  await expect(person.client.send('bob', 'secret')).rejects.toMatchObject({ code: 'KEY_CHANGED' })
  expect({
    code: person.client.securityCode('bob'),
    sessions: await store.listSessions(),
    trust: await person.client.trustState('bob'),
  }).toEqual(before)

  // The same after a restart.
  await person.client.close()
  store.reopen()
  const again = await world.open(store)
  await expect(again.client.send('bob', 'secret')).rejects.toMatchObject({ code: 'KEY_CHANGED' })

  // With the keys as they were, what bob wrote can be read; what the impostor wrote opens with no key of his.
  relay.friends = [friendOf(bob)]
  await again.connect()
  await again.receives('from the real bob')
  expect(await again.transcript('bob')).toEqual(['them: ', 'them: from the real bob'])
})

test('a known alias under a new conversation with other keys gets no session', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const impostor = makePeer('bob')
  relay.friends = [friendOf(impostor)]
  await person.client.syncFriends()
  expect(person.heard.security_violation).toMatchObject([{ contactId: 'bob' }])
  expect((await person.store.listSessions()).length).toBe(1)
  relay.send(msg(impostor, person, 1, 'trust me'))
  await world.settled(person)
  expect(person.heard.message).toEqual([])
})

test('two contacts cannot be given each other’s names', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  relay.friends = [friendOf(bob, { alias_id: 'carol' }), friendOf(carol, { alias_id: 'bob' })]
  await person.client.syncFriends()
  relay.friends = [friendOf(bob, { alias_id: 'someone' }), friendOf(carol, { alias_id: 'bob' })]
  await person.client.syncFriends()
  const sent = await person.client.send('bob', 'for bob alone')
  expect(sent.conversationId).toBe(bob.conversationId as never)
  expect((await person.client.conversation('carol')).conversationId).toBe(carol.conversationId)
})

test('one conversation given to two contacts has the key made with the one whose code is shown', async () => {
  const bob = makePeer('bob')
  const mallory = makePeer('mallory', bob.conversationId)
  const person = await world.victim([])
  relay.friends = [friendOf(bob), friendOf(mallory, { friendship_id: 7 })]
  await person.client.syncFriends()
  const [session] = await person.store.listSessions()
  expect(session?.theirEcdhPublicKey).toBe(bob.x25519)
  relay.friends = [friendOf(bob)]
  await person.client.syncFriends()
  relay.send(msg(mallory, person, 1, 'from mallory', { from: 'bob' }))
  relay.send(msg(bob, person, 2, 'from bob'))
  await person.receives('from bob')
  expect(await person.transcript('bob')).toEqual(['them: ', 'them: from bob'])
})

test('a contact that took another alias is followed, and answers to both', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.friends = [friendOf(bob, { alias_id: 'robert' })]
  relay.send(msg(bob, person, 1, 'new name', { from: 'robert' }))
  await person.receives('new name')
  await until(
    'the list explains it',
    async () => (await person.client.conversation('bob')).contactId === 'robert',
  )
  expect((await person.client.conversation('robert')).conversationId).toBe(bob.conversationId)
})

test('keys that nobody can have are not taken', async () => {
  const person = await world.victim([])
  const own = person.client.identity?.ecdhPublicKey ?? ''
  let lists = 0
  for (const key of [own, `${'A'.repeat(43)}=`]) {
    const friends = [friendOf({ ...makePeer('bob'), x25519: key })]
    relay.answers['GET /friends'] = () => {
      lists += 1
      return { body: friends }
    }
    await person.client.syncFriends()
  }
  expect(lists).toBeGreaterThanOrEqual(2) // The connection may have asked for one of its own.
  await until('each list is looked at', () => person.heard.error.length === lists)
  expect(await person.store.listSessions()).toEqual([])
  expect(person.heard.error.map(({ code }) => code)).toEqual(Array.from({ length: lists }, () => 'BAD_REPLY'))
})
