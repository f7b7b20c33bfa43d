// The client's side of the specification, row by row: authentication, events, errors. specification.test.ts
// names the files with the other rows.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decodeBase64, deriveIdentityKeys, encodeBase64, mnemonicToSeed } from '@sotto/crypto'
import { failureOf } from '../../protocol/test/failure-of.ts'
import {
  Channels,
  type ClientEventName,
  MemoryStore,
  type RegistrationProgress,
  validateMnemonic,
} from '../src/client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld()

const KNOWN = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

// Authentication

test('registration: it reports six steps in order, and sends these requests', async () => {
  const recorder = new Recorder()
  const alice = await world.open('alice', recorder)
  const reports: RegistrationProgress[] = []
  const identity = await alice.client.create({
    nickname: 'alice',
    onProgress: (progress) => reports.push(progress),
  })
  expect([...new Set(reports.map(({ step }) => step))]).toEqual([
    'derive_keys',
    'proof_of_work',
    'register',
    'challenge',
    'sign',
    'verify',
  ])
  expect(recorder.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api/v1/pow/challenge',
    'POST /api/v1/register',
    'POST /api/v1/auth/challenge',
    'POST /api/v1/auth/verify',
  ])
  const [, register, challenge, verify] = recorder.calls
  expect(register?.body).toEqual({
    ed25519_public_key: identity.signingPublicKey,
    x25519_public_key: identity.ecdhPublicKey,
    nickname: 'alice',
    pow_nonce: expect.any(String),
    pow_challenge: expect.any(String),
  })
  expect(challenge?.body).toEqual({ user_uuid: identity.uuid })
  expect(verify?.body).toEqual({
    user_uuid: identity.uuid,
    challenge: expect.any(String),
    signature: expect.any(String),
    // An addition, which relays that do not know it ignore, as any unknown field.
    limited: true,
  })
  for (const { authorization } of recorder.calls) expect(authorization).toBeNull()
})

test('after registration the client saves the identity and uses the same token for later calls', async () => {
  const recorder = new Recorder()
  const alice = await world.open('alice', recorder)
  const identity = await alice.client.create({ nickname: 'alice' })
  expect(await alice.store.getIdentity()).toEqual(identity)
  await alice.client.syncFriends()
  await alice.client.syncFriends()
  const tokens = recorder.callsOf('/api/v1/friends').map(({ authorization }) => authorization)
  expect(tokens[0]).toMatch(/^Bearer \S+\.\S+\.\S+$/)
  expect(new Set(tokens).size).toBe(1)
  expect(recorder.callsOf('/api/v1/auth/verify').length).toBe(1)
})

test('session restore: each call gets a new token by challenge and response, and returns alias and nickname', async () => {
  const [store, recorder] = [new MemoryStore(), new Recorder()]
  const alice = await world.open('alice', { store })
  const { aliasId } = await alice.client.create({ nickname: 'alice' })
  await alice.client.close()
  store.reopen()
  const again = await world.open('alice', { store, fetch: recorder.fetch })
  expect(await again.client.restore()).toEqual({ aliasId, nickname: 'alice' })
  expect(await again.client.restore()).toEqual({ aliasId, nickname: 'alice' })
  const once = ['/api/v1/auth/challenge', '/api/v1/auth/verify', '/api/v1/me']
  expect(recorder.calls.map(({ path }) => path)).toEqual([...once, ...once])
})

test('session restore: without a saved identity it returns null and sends no request', async () => {
  const recorder = new Recorder()
  const nobody = await world.open('nobody', recorder)
  expect(await nobody.client.restore()).toBeNull()
  expect(recorder.calls).toEqual([])
})

test('recovery: the same phrase leads to the same account, because register answers 409', async () => {
  const first = await world.open('alice')
  const { mnemonic, uuid, aliasId } = await first.client.create({ nickname: 'alice' })
  for (const recover of [
    (person: Person) => person.client.recover({ mnemonic }),
    (person: Person) => person.client.create({ nickname: 'ignored', mnemonic }),
  ]) {
    const again = await world.open('again')
    expect(await recover(again)).toMatchObject({ uuid, aliasId, nickname: 'alice' })
  }
})

test('the client never sends its phrase, private keys, session keys or the text of a message', async () => {
  const recorder = new Recorder()
  const [alice, bob] = await world.friends(recorder)
  const text = 'something nobody else may read'
  const sent = await alice.client.send(bob.alias, text, { replyToId: 'earlier-message' })
  await bob.receives(text)
  await bob.client.send(alice.alias, 'an answer nobody else may read')
  await alice.receives('an answer nobody else may read')
  await alice.client.markRead(bob.alias)
  alice.client.notifyTyping(bob.alias)
  await alice.client.verifySecurityCode(bob.alias, bob.client.securityCode(alice.alias).displayCode)
  await alice.client.retract(bob.alias, sent.id)
  await alice.client.setNickname('Alice')
  await alice.client.lookUpUser(bob.alias)
  await alice.client.restore()
  const mnemonic = alice.client.identity?.mnemonic ?? ''
  await alice.client.recover({ mnemonic })
  await alice.connect()

  const { signing, agreement } = await deriveIdentityKeys(mnemonic)
  const seed = await mnemonicToSeed(mnemonic)
  const [session] = await alice.store.listSessions()
  const sessionKey = decodeBase64(session?.sessionKeyBase64 ?? '')
  const bytes = [signing.privateKey, agreement.privateKey, seed, seed.slice(0, 32), sessionKey]
  const secrets = [text, 'an answer', 'earlier-message', mnemonic, ...threeWordsOf(mnemonic)]
  for (const secret of bytes)
    for (const form of ['hex', 'base64', 'base64url'] as const)
      secrets.push(Buffer.from(secret).toString(form).slice(0, 40))
  expect(recorder.sent.length).toBeGreaterThan(30)
  const everything = recorder.sent.join('\n')
  // The client does send its public key. Finding it shows that the recorder would also see the secrets.
  expect(everything).toContain(encodeBase64(agreement.publicKey))
  for (const secret of secrets) expect(everything).not.toContain(secret)
})

function threeWordsOf(mnemonic: string): string[] {
  const words = mnemonic.split(' ')
  return words.slice(2).map((_, at) => words.slice(at, at + 3).join(' '))
}

// Events

test('event names: message, status_change, network_state, channel_post, typing and goaway are emitted', async () => {
  const [alice, bob] = await world.friends()
  const emitted = new Set<ClientEventName>()
  for (const name of [
    ...(['message', 'status_change', 'network_state', 'channel_post', 'typing', 'goaway'] as const),
  ]) {
    alice.client.on(name, () => emitted.add(name))
    expect(emitted.has(name)).toBe(false)
  }
  const emits = (name: ClientEventName) => until(`alice’s client emits ${name}`, () => emitted.has(name))
  await bob.client.send(alice.alias, 'hello')
  await emits('message')
  bob.client.notifyTyping(alice.alias)
  await emits('typing')
  await alice.client.send(bob.alias, 'hello')
  await emits('status_change')
  const channel = await new Channels(bob.client).create({ name: 'News' })
  await new Channels(alice.client).subscribe(channel)
  await new Channels(bob.client).post(channel, 'new')
  await emits('channel_post')
  expect([...emitted].toSorted()).toEqual(['channel_post', 'message', 'status_change', 'typing'])
  const second = await world.open('second')
  await second.client.recover({ mnemonic: alice.client.identity?.mnemonic ?? '' })
  await second.connect()
  await emits('goaway')
  await emits('network_state')
})

test('events can be read in a loop, which ends when the client closes', async () => {
  const [alice, bob] = await world.friends()
  const texts: string[] = []
  const loop = (async () => {
    for await (const { text } of bob.client.events('message')) texts.push(text)
  })()
  for (const text of ['one', 'two', 'three']) await alice.client.send(bob.alias, text)
  await bob.receives('three')
  await bob.client.close()
  await loop
  expect(texts).toEqual(['one', 'two', 'three'])
  for await (const _ of bob.client.events('message')) throw new Error('a closed client has no events')
})

test('network states: connecting, connected, disconnected', async () => {
  const alice = await world.join('alice')
  expect(alice.client.networkState).toBe('connected')
  alice.client.disconnect()
  expect(alice.client.networkState).toBe('disconnected')
  expect(alice.heard.network_state).toEqual(['connecting', 'connected', 'disconnected'])
})

test('typing: at most one frame every 300 ms is sent, and the event has fromAliasId and conversationId', async () => {
  const recorder = new Recorder()
  let now = Date.now()
  const clock = { ...systemClock, now: () => now }
  const [alice, bob, conversationId] = await world.friends({ ...recorder, clock })
  // One key press every ten milliseconds, for one second.
  for (const end = now + 1000; now < end; now += 10) alice.client.notifyTyping(bob.alias)
  expect(recorder.framesOf('typing').length).toBe(4)
  await until('bob has got four typing events', () => bob.heard.typing.length === 4)
  expect(bob.heard.typing[0]).toEqual({ fromAliasId: alice.alias, conversationId })
  expect(recorder.framesOf('typing')[0]).toEqual({ type: 'typing', to: bob.alias, conv_id: conversationId })
})

test('retract: a sender can retract a message even after it was read', async () => {
  const [alice, bob] = await world.friends()
  const sent = await alice.client.send(bob.alias, 'oops')
  await bob.receives('oops')
  await bob.client.markRead(alice.alias)
  await alice.sees(bob.alias, sent.id, 'read')
  await alice.client.retract(bob.alias, sent.id)
  expect(await until('bob sees the retraction', () => bob.heard.retracted[0])).toMatchObject({
    id: sent.id,
    text: '',
  })
})

test('goaway: if the account connects from another device, this device gets a goaway and disconnects', async () => {
  const alice = await world.join('alice')
  const second = await world.open('second')
  await second.client.recover({ mnemonic: alice.client.identity?.mnemonic ?? '' })
  await second.connect()
  expect(await until('alice gets the goaway', () => alice.heard.goaway[0])).toEqual({
    reason: 'new_device_login',
  })
  expect(alice.client.networkState).toBe('disconnected')
})

test('the client sends periodic heartbeats', async () => {
  const recorder = new Recorder()
  await world.join('alice', { ...recorder, heartbeatMs: 50 })
  await until('the client has sent three pings', () => recorder.framesOf('ping').length >= 3)
})

test('the client reconnects by itself after its connection breaks', async () => {
  const [alice, bob] = await world.friends()
  const before = alice.heard.network_state.length
  await world.relay.kill('SIGKILL')
  await until('alice has lost the connection', () => alice.client.networkState === 'connecting')
  await alice.client.send(bob.alias, 'written meanwhile')
  await world.relay.start()
  await until('bob gets the message', () =>
    bob.heard.message.some(({ text }) => text === 'written meanwhile'),
  )
  expect(alice.heard.network_state.slice(before)).toEqual(['connecting', 'connected'])
})

test('messages to a disconnected account arrive after it reconnects', async () => {
  const [alice, bob] = await world.friends()
  bob.client.disconnect()
  const sent = await alice.client.send(bob.alias, 'waiting for you')
  await alice.sees(bob.alias, sent.id, 'sent')
  await bob.connect()
  expect((await bob.receives('waiting for you')).id).toBe(sent.id)
})

// Errors

test('errors: a phrase that is not 12 valid BIP-39 words is invalid', async () => {
  expect(await validateMnemonic(KNOWN)).toBe(true)
  const wrong = [
    '',
    'one two three',
    KNOWN.replace('yellow', 'winner'),
    `${KNOWN} legal`,
    KNOWN.replace('legal', 'leegal'),
  ]
  const alice = await world.open('alice')
  for (const phrase of wrong) {
    expect(await validateMnemonic(phrase)).toBe(false)
    expect(await failureOf(alice.client.recover({ mnemonic: phrase }))).toMatchObject({
      code: 'INVALID_PHRASE',
    })
  }
})
