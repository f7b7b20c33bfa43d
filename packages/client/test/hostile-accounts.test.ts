// A relay that lies about accounts, keys and names. It cannot change an identity, a key or a trust state.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Channels, MemoryStore } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer, meOf } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

test('the client does not sign a challenge for another host or account', async () => {
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
    expect(await failureOf(person.client.create({ nickname: 'victim' }))).toMatchObject({
      code: 'CHALLENGE_REFUSED',
    })
    await person.client.create({ nickname: 'victim' }).catch(() => {})
    expect(person.client.identity).toBeUndefined()
  }
  expect(relay.called).not.toContain('POST /auth/verify')
})

test('if the relay says that an account exists, the client stores it only after a successful login', async () => {
  const person = await world.open()
  relay.answers['POST /register'] = () => ({
    status: 409,
    body: { error: 'ACCOUNT_EXISTS', uuid: relay.uuid, alias_id: 'somebody_else' },
  })
  relay.answers['POST /auth/verify'] = () => ({ status: 401, body: { error: 'SIGNATURE_INVALID' } })
  expect(await failureOf(person.client.create({ nickname: 'victim' }))).toMatchObject({
    refusal: 'SIGNATURE_INVALID',
  })
  await person.client.create({ nickname: 'victim' }).catch(() => {})
  expect(await person.store.getIdentity()).toBeUndefined()
})

test('the client refuses an existing account with an invalid id or alias', async () => {
  for (const account of [
    { uuid: '../../etc', alias_id: 'abc' },
    { uuid: relay.uuid, alias_id: 'A B' },
    { uuid: 1, alias_id: null },
    {},
  ]) {
    const person = await world.open()
    relay.answers['POST /register'] = () => ({ status: 409, body: { error: 'ACCOUNT_EXISTS', ...account } })
    expect(await failureOf(person.client.create({ nickname: 'victim' }))).toBeDefined()
    expect(await person.store.getIdentity()).toBeUndefined()
  }
})

test('a reply that breaks the protocol fails with BAD_REPLY', async () => {
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
    expect(await failureOf(person.client.syncFriends())).toMatchObject({ code: 'BAD_REPLY' })
  }
  relay.answers['GET /friends'] = () => ({ status: 400, body: { error: '__proto__' } })
  expect(await failureOf(person.client.syncFriends())).toMatchObject({ code: 'BAD_REPLY' })
  relay.answers['GET /friends'] = () => ({ status: 404, body: { error: 'NOT_FOUND', detail: 5 } })
  expect(await failureOf(person.client.syncFriends())).toMatchObject({
    code: 'REFUSED',
    refusal: 'NOT_FOUND',
  })
})

test('names from the relay cannot reverse, hide or break the text around them, and are never empty', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob])
  relay.friends = [
    friendOf(bob, { nickname: '\u202eb\u200bo\u0000b\u2028\u001b[2J' }),
    friendOf(carol, { nickname: '\u2066\u3164' }),
  ]
  await person.client.syncFriends()
  expect(person.client.friends().map(({ nickname }) => nickname)).toEqual(['bob [2J', 'carol'])
  const stored = await person.store.listFriends()
  expect(stored.map(({ nickname }) => nickname)).toEqual(['bob [2J', 'carol'])
  relay.answers['GET /users/bob'] = () => ({ body: friendOf(bob, { nickname: '\u200f' }) })
  expect((await person.client.lookUpUser('bob')).nickname).toBe('bob')
  const channel = { id: `ch_${'a'.repeat(22)}`, name: '\u200b', description: 'two\nlines\u202e' }
  relay.answers['GET /channels/mine'] = () => ({ body: [channel, { ...channel, name: '\u2067News' }] })
  expect(await new Channels(person.client).mine()).toMatchObject([
    { name: channel.id, description: 'two\nlines' },
    { name: 'News' },
  ])
})

test('views are told when keys change without a new friend list, and when they are the recorded ones again', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const isChanged = async () => (await person.client.conversation('bob')).changedCode !== undefined
  const impostor = friendOf(makePeer('bob', bob.conversationId))
  relay.answers['GET /users/bob'] = () => ({ body: impostor })
  person.heard.changes.length = 0
  await person.client.lookUpUser('bob')
  expect(await isChanged()).toBe(true)
  expect(person.heard.changes).toContainEqual([{ kind: 'conversation', conversationId: bob.conversationId }])
  person.heard.changes.length = 0
  await person.client.syncFriends()
  expect(await isChanged()).toBe(false)
  expect(person.heard.changes).toContainEqual([{ kind: 'conversation', conversationId: bob.conversationId }])
})

test('after a key change the client decrypts, sends and overwrites nothing, and reports a security violation', async () => {
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
  const { currentFingerprint } = person.heard.security_violation[0] ?? {}
  expect(currentFingerprint).not.toBe(before.code.fingerprintHex)
  const { changedCode } = await person.client.conversation('bob')
  expect(changedCode?.replaceAll(' ', '')).toBe(currentFingerprint)

  relay.send(msg(impostor, person, 1, 'trust me'))
  relay.send(msg(bob, person, 2, 'from the real bob'))
  await until('the client has refused both messages', () => person.heard.security_violation.length >= 3)
  await world.settled(person)
  expect(person.heard.message).toEqual([])
  expect(await failureOf(person.client.send('bob', 'secret'))).toMatchObject({ code: 'KEY_CHANGED' })
  expect({
    code: person.client.securityCode('bob'),
    sessions: await store.listSessions(),
    trust: await person.client.trustState('bob'),
  }).toEqual(before)

  // The client still refuses the keys after a restart.
  await person.client.close()
  store.reopen()
  const again = await world.open(store)
  expect(await failureOf(again.client.send('bob', 'secret'))).toMatchObject({ code: 'KEY_CHANGED' })

  // With Bob's old keys back, the client can decrypt Bob's message, and cannot decrypt the impostor's. The
  // relay has this device's own key, so that is not why.
  relay.answers['GET /me'] = () => meOf(again.client)
  relay.friends = [friendOf(bob)]
  await again.connect()
  await again.receives('from the real bob')
  expect(await again.transcript('bob')).toEqual(['them: ', 'them: from the real bob'])
})

test('a contact’s alias with a new conversation and other keys gets no session', async () => {
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

test('the relay cannot swap the aliases of two contacts', async () => {
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

test('a conversation that the relay gives to two contacts keeps the key of the first', async () => {
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

test('a contact with a new alias is reachable under both aliases', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.friends = [friendOf(bob, { alias_id: 'robert' })]
  relay.send(msg(bob, person, 1, 'new name', { from: 'robert' }))
  await person.receives('new name')
  await until(
    'the friend list has brought the new alias',
    async () => (await person.client.conversation('bob')).contactId === 'robert',
  )
  expect((await person.client.conversation('robert')).conversationId).toBe(bob.conversationId)
})

test('the client refuses a contact with the user’s own key or an invalid key', async () => {
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
  expect(lists).toBeGreaterThanOrEqual(2) // The connection may have requested the list too.
  await until('the client has refused each list', () => person.heard.error.length === lists)
  expect(await person.store.listSessions()).toEqual([])
  expect(person.heard.error.map(({ code }) => code)).toEqual(Array.from({ length: lists }, () => 'BAD_REPLY'))
})
