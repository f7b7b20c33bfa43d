// Two people at a real relay: messages, retractions, friendships, security codes and accounts.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { type FetchLike, MemoryStore } from '../src/client.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld()

function untilRetracted(person: Person): Promise<boolean> {
  return until(
    'the relay has acknowledged the retraction',
    async () => (await person.store.listRetractIntents()).length === 0,
  )
}

test('a message arrives, and its sender sees it sent, delivered and read', async () => {
  const [alice, bob, conversation] = await world.friends()
  expect((await bob.client.conversation(alice.alias)).conversationId).toBe(conversation)

  const sent = await alice.client.send(bob.alias, 'hello')
  expect(sent).toMatchObject({ status: 'sending', isMe: true, text: 'hello' })
  expect(await bob.receives('hello')).toMatchObject({
    id: sent.id,
    isMe: false,
    fromAliasId: alice.alias,
    seq: 1,
  })
  await alice.sees(bob.alias, sent.id, 'delivered')
  expect((await bob.client.conversation(alice.alias)).unread).toBe(1)

  await bob.client.markRead(alice.alias)
  await alice.sees(bob.alias, sent.id, 'read')
  expect((await bob.client.conversation(alice.alias)).unread).toBe(0)
  const statuses = alice.heard.status_change.map(({ message, previous }) => `${previous}>${message.status}`)
  expect(statuses).toEqual(['sending>sent', 'sent>delivered', 'delivered>read'])
})

test('a reply names the message that it answers', async () => {
  const [alice, bob] = await world.friends()
  const question = await alice.client.send(bob.alias, 'when?')
  await bob.receives('when?')
  await bob.client.send(alice.alias, 'at eight', { replyToId: question.id })
  expect(await alice.receives('at eight')).toMatchObject({ replyToId: question.id })
})

test('many messages sent at once arrive in order, each once', async () => {
  const [alice, bob] = await world.friends()
  const texts = Array.from({ length: 500 }, (_, at) => `message ${at}`)
  await Promise.all(texts.map((text) => alice.client.send(bob.alias, text)))
  await until('all messages arrive', () => bob.heard.message.length >= texts.length, 60_000)
  expect(bob.heard.message.map(({ text }) => text)).toEqual(texts)
  const own = await until('all messages are marked delivered', async () => {
    const messages = await alice.client.messages(bob.alias)
    return messages.every(({ status }) => status === 'delivered') && messages
  })
  expect(own.map(({ text }) => text)).toEqual(texts)
})

test('a message to a disconnected friend waits until the friend connects', async () => {
  const [alice, bob] = await world.friends()
  bob.client.disconnect()
  const sent = await alice.client.send(bob.alias, 'are you there?')
  await alice.sees(bob.alias, sent.id, 'sent')
  await bob.connect()
  expect((await bob.receives('are you there?')).id).toBe(sent.id)
  await alice.sees(bob.alias, sent.id, 'delivered')
})

test('messages written without a connection are sent once the client connects', async () => {
  const [alice, bob] = await world.friends()
  alice.client.disconnect()
  const texts = ['one', 'two', 'three']
  for (const text of texts) await alice.client.send(bob.alias, text)
  await alice.connect()
  await bob.receives('three')
  expect(bob.heard.message.map(({ text }) => text)).toEqual(texts)
})

test('a client that reconnects learns that its friend request was accepted, and gets the friend’s messages', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  await alice.client.requestFriend(bob.alias)
  alice.client.disconnect()
  const request = await until('bob gets the request', () => bob.heard.friend_request[0])
  await bob.client.acceptFriend(request.friendship_id)
  await bob.client.send(alice.alias, 'first')
  await alice.connect()
  await alice.receives('first')
  expect(alice.heard.friend_accepted).toMatchObject([{ alias_id: bob.alias }])
  expect(await alice.store.countOfflineMessages()).toBe(0)
})

test('a retracted message loses its text on both sides', async () => {
  const [alice, bob] = await world.friends()
  const sent = await alice.client.send(bob.alias, 'oops')
  await bob.receives('oops')
  await alice.client.retract(bob.alias, sent.id)
  await until('bob sees the retraction', () => bob.heard.retracted[0])
  expect(await bob.transcript(alice.alias)).toEqual(['them: (retracted)'])
  await untilRetracted(alice)
  expect(JSON.stringify(await alice.client.messages(bob.alias))).not.toContain('oops')
})

test('a message retracted before its recipient connects is never shown', async () => {
  const [alice, bob] = await world.friends()
  bob.client.disconnect()
  const sent = await alice.client.send(bob.alias, 'never mind')
  await alice.client.send(bob.alias, 'hello')
  await alice.client.retract(bob.alias, sent.id)
  await untilRetracted(alice)
  await bob.connect()
  await bob.receives('hello')
  expect(await bob.transcript(alice.alias)).toEqual(['them: hello'])
})

test('a retraction made without a connection is sent once the client connects', async () => {
  const [alice, bob] = await world.friends()
  const sent = await alice.client.send(bob.alias, 'oops')
  await bob.receives('oops')
  alice.client.disconnect()
  await alice.client.retract(bob.alias, sent.id)
  await alice.connect()
  await until('bob sees the retraction', () => bob.heard.retracted[0])
})

test('a user cannot retract a friend’s message', async () => {
  const [alice, bob] = await world.friends()
  const sent = await alice.client.send(bob.alias, 'mine')
  await bob.receives('mine')
  expect(await failureOf(bob.client.retract(alice.alias, sent.id))).toMatchObject({ code: 'UNKNOWN_MESSAGE' })
})

test('many key presses send the peer one typing notice', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const conversationId = await alice.befriend(bob)
  for (let key = 0; key < 20; key += 1) alice.client.notifyTyping(bob.alias)
  await until('bob sees that alice types', () => bob.heard.typing[0])
  expect(bob.heard.typing).toEqual([{ fromAliasId: alice.alias, conversationId }] as never)
})

test('both sides compute the same security code, and entering the right code verifies the contact', async () => {
  const [alice, bob] = await world.friends()
  const code = bob.client.securityCode(alice.alias)
  expect(code.fingerprintHex).toMatch(/^[0-9a-f]{60}$/)
  expect(alice.client.securityCode(bob.alias)).toEqual({ ...code, contactId: bob.alias })
  expect(await alice.client.trustState(bob.alias)).toEqual({ status: 'unverified' })
  expect(await alice.client.verifySecurityCode(bob.alias, 'ab'.repeat(30))).toBe(false)
  expect(await alice.client.trustState(bob.alias)).toEqual({ status: 'unverified' })
  expect(await alice.client.verifySecurityCode(bob.alias, code.displayCode.toUpperCase())).toBe(true)
  expect(await alice.client.trustState(bob.alias)).toMatchObject({
    status: 'verified',
    fingerprintSnapshot: code.fingerprintHex,
  })
  await alice.client.resetTrust(bob.alias)
  expect(await alice.client.trustState(bob.alias)).toEqual({ status: 'unverified' })
})

test('a removed friend cannot send messages, and befriending again continues the same conversation', async () => {
  const [alice, bob, conversation] = await world.friends()
  await alice.client.send(bob.alias, 'before')
  await bob.receives('before')
  const [friend] = alice.client.friends()
  await bob.client.removeFriend(friend?.friendship_id ?? 0)
  const refused = await alice.client.send(bob.alias, 'still there?')
  expect(await alice.sees(bob.alias, refused.id, 'failed')).toMatchObject({ failure: 'NOT_FRIENDS' })
  expect(await alice.store.listOutbox()).toEqual([])

  expect(await alice.befriend(bob)).toBe(conversation)
  await alice.client.send(bob.alias, 'after')
  await bob.receives('after')
  expect(await bob.transcript(alice.alias)).toEqual(['them: before', 'them: after'])
})

test('a user can reject requests, block and unblock accounts, and look up people', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  await alice.client.requestFriend(bob.alias)
  const request = await until('bob gets the request', () => bob.heard.friend_request[0])
  await bob.client.rejectFriend(request.friendship_id)
  expect(bob.client.friends()).toMatchObject([{ alias_id: alice.alias, status: 'rejected' }])
  await bob.client.block(alice.alias)
  expect(await bob.client.listBlocks()).toMatchObject([{ alias_id: alice.alias }])
  await bob.client.unblock(alice.alias)
  expect(await bob.client.listBlocks()).toEqual([])
  expect(await bob.client.lookUpUser(alice.alias)).toMatchObject({ nickname: 'alice', alias_id: alice.alias })
  expect(await failureOf(bob.client.lookUpUser('nobody_at_all'))).toMatchObject({
    code: 'REFUSED',
    refusal: 'NOT_FOUND',
  })
  expect(await failureOf(bob.client.requestFriend(bob.alias))).toMatchObject({ refusal: 'SELF_REQUEST' })
  expect(await failureOf(bob.client.requestFriend('Not An Alias'))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
})

test('friends see a changed nickname', async () => {
  const [alice, bob] = await world.friends()
  await alice.client.setNickname('Alice the Great')
  expect(alice.client.identity?.nickname).toBe('Alice the Great')
  await bob.client.syncFriends()
  expect((await bob.client.conversation(alice.alias)).nickname).toBe('Alice the Great')
})

test('a phrase recovers its account on another device, and the first device is sent away and does not reconnect', async () => {
  const [alice, bob] = await world.friends()
  const { mnemonic, uuid, aliasId } = alice.client.identity ?? { mnemonic: '' }
  const second = await world.open('alice again')
  expect(await second.client.recover({ mnemonic: ` ${mnemonic.toUpperCase()} ` })).toMatchObject({
    uuid,
    aliasId,
    nickname: 'alice',
  } as never)
  await second.connect()
  await until('the first device gets a goaway', () => alice.heard.goaway[0])
  expect(alice.heard.goaway).toEqual([{ reason: 'new_device_login' }])
  expect(alice.client.networkState).toBe('disconnected')
  await bob.client.send(aliasId ?? '', 'which one?')
  await second.receives('which one?')
  expect(alice.client.networkState).toBe('disconnected')
  expect(alice.heard.message).toEqual([])
})

test('creating an identity from the phrase of an existing account returns that account', async () => {
  const alice = await world.join('alice')
  const second = await world.open('again')
  const identity = await second.client.create({
    nickname: 'someone',
    mnemonic: alice.client.identity?.mnemonic ?? '',
  })
  expect(identity).toMatchObject({ aliasId: alice.alias, nickname: 'alice' })
})

test('recovery fails for a phrase without an account and for an invalid phrase', async () => {
  const person = await world.open('nobody')
  const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  expect(await failureOf(person.client.recover({ mnemonic }))).toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
  expect(await failureOf(person.client.recover({ mnemonic: 'one two three' }))).toMatchObject({
    code: 'INVALID_PHRASE',
  })
  expect(person.client.identity).toBeUndefined()
  expect(() => person.client.connect()).toThrow('no identity')
  expect(await person.client.restore()).toBeNull()
})

test('a new identity replaces the one on the device only with `replace`', async () => {
  const store = new MemoryStore()
  const [alice] = await world.friends({ store })
  expect(await failureOf(alice.client.create({ nickname: 'other' }))).toMatchObject({
    code: 'IDENTITY_EXISTS',
  })
  const before = alice.alias
  await alice.client.create({ nickname: 'other', replace: true })
  expect(alice.alias).not.toBe(before)
  expect(await alice.client.conversations()).toEqual([])
  await alice.connect()
})

test('a client reopened on its store has the same identity and messages', async () => {
  const store = new MemoryStore()
  const [alice, bob] = await world.friends({ store })
  await alice.client.send(bob.alias, 'kept')
  await bob.receives('kept')
  await alice.client.close()
  store.reopen()
  const again = await world.open('alice', { store })
  expect(await again.client.restore()).toEqual({ aliasId: alice.alias, nickname: 'alice' })
  expect(await again.transcript(bob.alias)).toHaveLength(1)
  await again.connect()
  await bob.client.send(again.alias, 'welcome back')
  await again.receives('welcome back')
})

test('an account deletion interrupted before the device is cleared can be noticed, and repeated to finish it', async () => {
  const store = new MemoryStore()
  const deleted = Promise.withResolvers<void>()
  const fetchAndDie: FetchLike = async (url, init) => {
    const response = await fetch(url, init)
    if (init.method !== 'DELETE') return response
    deleted.resolve()
    return new Promise(() => {})
  }
  const dying = await world.open('alice', { store, fetch: fetchAndDie })
  await dying.client.create({ nickname: 'alice' })
  void dying.client.deleteAccount()
  await deleted.promise

  const alice = await world.open('alice', { store })
  expect(alice.client.identity).toBeDefined()
  const accountGone = { code: 'ACCOUNT_NOT_FOUND', refusal: 'SIGNATURE_INVALID' }
  expect(await failureOf(alice.client.restore())).toMatchObject(accountGone)
  expect(await failureOf(alice.client.syncFriends())).toMatchObject(accountGone)
  alice.client.connect()
  await until('alice gets the error', () => alice.heard.error.length > 0)
  expect(alice.heard.error).toMatchObject([accountGone])
  expect(alice.client.networkState).toBe('disconnected')
  expect(await store.getIdentity()).toBeDefined()

  await alice.client.deleteAccount()
  expect(alice.client.identity).toBeUndefined()
  expect(await store.getIdentity()).toBeUndefined()
  expect(alice.heard.identity_changed).toEqual([{ identity: undefined }])
  expect(await alice.client.restore()).toBeNull()
  expect((await alice.client.create({ nickname: 'anew' })).nickname).toBe('anew')
})

test('deleting an account removes it from the device, the relay and friends’ lists', async () => {
  const [alice, bob] = await world.friends()
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  await alice.client.deleteAccount()
  expect(alice.client.identity).toBeUndefined()
  expect(await alice.store.getIdentity()).toBeUndefined()
  await bob.client.syncFriends()
  expect(bob.client.friends()).toEqual([])
  expect(await failureOf((await world.open('again')).client.recover({ mnemonic }))).toBeDefined()
})
