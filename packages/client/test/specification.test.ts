// The client's side of the specification, row by row: identity, records and states. Most tests run against a
// real relay. Sessions, events and errors are in specification-sessions.test.ts; channels, the shop and its
// orders, and push in specification-services.test.ts; media and calls in specification-media.test.ts.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { decodeBase64, deriveIdentityKeys, encodeBase64 } from '@sotto/crypto'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { contentOf, generateMnemonic, validateMnemonic } from '../src/client.ts'
import { friendOf, makePeer } from './hostile-relay.ts'
import { HostileWorld, msg } from './hostile-world.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld()

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const MEDIA_KEY = `m_${'A'.repeat(22)}`

// Client-derived identity material

test('recovery phrase: 12 English words from the BIP-39 list', async () => {
  const { mnemonic } = await (await world.open('alice')).client.create({ nickname: 'alice' })
  expect(mnemonic.split(' ').length).toBe(12)
  expect(await validateMnemonic(mnemonic)).toBe(true)
})

test('key pairs: Ed25519 at 44/0/0/0/0 and X25519 at 44/1/0/0/0, derived only from the phrase', async () => {
  const mnemonic = await generateMnemonic(random)
  const { signing, agreement } = await deriveIdentityKeys(mnemonic)
  for (const pair of [signing, agreement]) {
    expect(pair.privateKey).toBeInstanceOf(Uint8Array)
    expect([pair.privateKey.length, pair.publicKey.length]).toEqual([32, 32])
  }
  const identity = await (await world.open('alice')).client.create({ nickname: 'alice', mnemonic })
  expect(identity.signingPublicKey).toBe(encodeBase64(signing.publicKey))
  expect(identity.ecdhPublicKey).toBe(encodeBase64(agreement.publicKey))
})

test('security code: 60 hex digits of SHA-256 over both X25519 keys, the lesser key first, in groups of 4', async () => {
  const [alice, bob] = await world.friends()
  const keys = [alice, bob].map((person) =>
    Buffer.from(decodeBase64(person.client.identity?.ecdhPublicKey ?? '')),
  )
  const expected = createHash('sha256')
    .update(Buffer.concat(keys.toSorted(Buffer.compare)))
    .digest('hex')
    .slice(0, 60)
  const codes = [alice.client.securityCode(bob.alias), bob.client.securityCode(alice.alias)]
  for (const code of codes) {
    expect(code.fingerprintHex).toBe(expected)
    expect(code.displayCode).toBe(expected.match(/.{4}/g)?.join(' ') ?? '')
  }
  expect(codes.map(({ contactId }) => contactId)).toEqual([bob.alias, alice.alias])
})

// Account identity as stored on the device

test('StoredIdentity: uuid, aliasId, nickname, mnemonic, signingPublicKey, ecdhPublicKey', async () => {
  const alice = await world.open('alice')
  await alice.client.create({ nickname: 'alice' })
  const stored = await alice.store.getIdentity()
  expect(Object.keys(stored ?? {}).toSorted()).toEqual([
    'aliasId',
    'ecdhPublicKey',
    'mnemonic',
    'nickname',
    'signingPublicKey',
    'uuid',
  ])
  for (const value of Object.values(stored ?? {})) expect(value).toBeString()
})

test('a device stores one identity, and a new registration overwrites it only with `replace`', async () => {
  const [alice, bob] = await world.friends()
  await alice.client.send(bob.alias, 'of the first identity')
  const before = await alice.store.getIdentity()
  expect(await failureOf(alice.client.create({ nickname: 'new' }))).toMatchObject({ code: 'IDENTITY_EXISTS' })
  expect(await alice.store.getIdentity()).toEqual(before)
  await alice.client.create({ nickname: 'new', replace: true })
  const after = await alice.store.getIdentity()
  expect(after?.uuid).not.toBe(before?.uuid as never)
  expect(await alice.store.listSessions()).toEqual([])
  expect(await alice.client.conversations()).toEqual([])
})

// Resources

test('FriendProfile: its nine fields, as the relay sends them', async () => {
  const [alice, bob, conversationId] = await world.friends()
  expect(alice.client.friends()).toEqual([
    {
      friendship_id: expect.any(Number),
      alias_id: bob.alias,
      nickname: 'bob',
      status: 'accepted',
      direction: 'sent',
      conversation_id: conversationId,
      x25519_public_key: bob.client.identity?.ecdhPublicKey,
      ed25519_public_key: bob.client.identity?.signingPublicKey,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  ] as never)
})

test('user lookup result: alias_id, nickname and both public keys', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  expect(await alice.client.lookUpUser(bob.alias)).toEqual({
    alias_id: bob.alias,
    nickname: 'bob',
    x25519_public_key: bob.client.identity?.ecdhPublicKey,
    ed25519_public_key: bob.client.identity?.signingPublicKey,
  } as never)
})

test('MessageEnvelope: type msg, id, to, conv_id, crypto_v, payload', async () => {
  const recorder = new Recorder()
  const [alice, bob, conversationId] = await world.friends(recorder)
  const { id } = await alice.client.send(bob.alias, 'hello')
  await bob.receives('hello')
  expect(recorder.framesOf('msg')).toEqual([
    { type: 'msg', id, to: bob.alias, conv_id: conversationId, crypto_v: 1, payload: expect.any(String) },
  ])
})

test('message content: [img]key, [file]key|name|bytes and [voice]key|milliseconds, the same on both sides', async () => {
  const [alice, bob] = await world.friends()
  const key = `${MEDIA_KEY}.h${'b'.repeat(43)}`
  const contents = [
    [{ kind: 'image', mediaKey: key }, `[img]${key}`, undefined],
    [
      { kind: 'file', mediaKey: key, name: 'a b|c.pdf', sizeBytes: 1024 },
      `[file]${key}|a b|c.pdf|1024`,
      'a b|c.pdf',
    ],
    [{ kind: 'voice', mediaKey: key, durationMs: 1500 }, `[voice]${key}|1500`, undefined],
  ] as const
  for (const [content, text, caption] of contents) {
    const sent = await alice.client.send(bob.alias, content)
    const received = await bob.receives(text)
    for (const message of [sent, received]) {
      expect([message.msgType, message.mediaUrl, message.caption]).toEqual([content.kind, key, caption])
      expect(contentOf(message)).toEqual(content)
    }
  }
  for (const typed of ['[img]m_typed_by_hand', '[voice]a|1', '{"type":"image","key":"a"}']) {
    const literal = await alice.client.send(bob.alias, typed)
    expect([literal.msgType, (await bob.receives(typed)).msgType]).toEqual(['text', 'text'])
  }
})

test('a retracted message has no media key, file name or text', async () => {
  const [alice, bob] = await world.friends()
  const file = { kind: 'file', mediaKey: MEDIA_KEY, name: 'secret.pdf', sizeBytes: 1 } as const
  const sent = await alice.client.send(bob.alias, file)
  await bob.receives(`[file]${MEDIA_KEY}|secret.pdf|1`)
  await alice.client.retract(bob.alias, sent.id)
  await until('bob sees the retraction', () => bob.heard.retracted[0])
  for (const [person, contact] of [
    [alice, bob],
    [bob, alice],
  ] as const) {
    const kept = await until(`the media key is deleted at ${person.name}`, async () => {
      const [message] = await person.client.messages(contact.alias)
      return message?.mediaUrl === undefined && message
    })
    expect(JSON.stringify(kept)).not.toContain('secret')
    expect(kept).toMatchObject({ id: sent.id, retracted: true, text: '' })
  }
})

// Client-side records

test('StoredMessage: its fields on both sides', async () => {
  const [alice, bob, conversationId] = await world.friends()
  const first = await alice.client.send(bob.alias, 'hello')
  await bob.receives('hello')
  await bob.client.send(alice.alias, 'yes?', { replyToId: first.id })
  await alice.receives('yes?')
  await alice.sees(bob.alias, first.id, 'delivered')
  const [own, theirs] = await alice.client.messages(bob.alias)
  expect(own).toMatchObject({
    id: first.id,
    conversationId,
    text: 'hello',
    isMe: true,
    time: expect.any(Number),
    status: 'delivered',
    msgType: 'text',
    seq: 1,
  } as never)
  expect(theirs).toMatchObject({
    conversationId,
    text: 'yes?',
    isMe: false,
    status: 'delivered',
    seq: 2,
    fromAliasId: bob.alias,
    replyToId: first.id,
  } as never)
})

test('OutboxIntent: internalId, conversationId, toAliasId, text, addedAt, replyToId', async () => {
  const [alice, bob, conversationId] = await world.friends()
  alice.client.disconnect()
  const { id } = await alice.client.send(bob.alias, 'later', { replyToId: 'earlier' })
  expect(await alice.store.listOutbox()).toMatchObject([
    {
      internalId: id,
      conversationId,
      toAliasId: bob.alias,
      text: 'later',
      addedAt: expect.any(Number),
      replyToId: 'earlier',
    },
  ] as never)
})

test('SessionRecord: the client creates it for an accepted friend when it synchronises the friend list', async () => {
  const [alice, bob, conversationId] = await world.friends()
  const [session] = await alice.store.listSessions()
  expect(session).toMatchObject({
    conversationId,
    theirAliasId: bob.alias,
    theirEcdhPublicKey: bob.client.identity?.ecdhPublicKey,
    theirEd25519PublicKey: bob.client.identity?.signingPublicKey,
    trustState: 'unverified',
    createdAt: expect.any(Number),
  } as never)
  expect(decodeBase64(session?.sessionKeyBase64 ?? '').length).toBe(32)
  // Both sides have the same key.
  expect((await bob.store.listSessions())[0]?.sessionKeyBase64).toBe(session?.sessionKeyBase64 ?? '')
})

test('OfflineMessage: conversationId, seq, payloadEncrypted and createdAt of a message that cannot be decrypted yet', async () => {
  const hostile = new HostileWorld()
  const [stranger, person] = [makePeer('bob'), await hostile.victim([])]
  const frame = msg(stranger, person, 5, 'who am I?')
  hostile.relay.send(frame)
  await until(
    'the client has stored the message',
    async () => (await person.store.countOfflineMessages()) === 1,
  )
  expect(await person.store.listOfflineMessages()).toMatchObject([
    { conversationId: stranger.conversationId, seq: 5, payloadEncrypted: frame.payload, createdAt: frame.at },
  ] as never)
  await hostile.stop()
})

// States: friendship

test('friendship: a request is pending, sent for one side and received for the other, until its recipient accepts', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  expect(alice.client.friends()).toEqual([])
  expect(await alice.client.requestFriend(bob.alias)).toBe('pending')
  expect(alice.client.friends()).toMatchObject([
    { status: 'pending', direction: 'sent', conversation_id: '' },
  ])
  const request = await until('bob gets the request', () => bob.heard.friend_request[0])
  expect(request).toMatchObject({ status: 'pending', direction: 'received' })
  expect(await failureOf(alice.client.acceptFriend(request.friendship_id))).toMatchObject({
    refusal: 'NOT_FOUND',
  })
  await bob.client.acceptFriend(request.friendship_id)
  await until('alice sees the acceptance', () => alice.heard.friend_accepted[0])
  expect(alice.client.friends()).toMatchObject([{ status: 'accepted' }])
})

// States: message status

test('message status: a delivered receipt marks the user’s messages up to its seq as delivered', async () => {
  const [alice, bob] = await world.friends()
  bob.client.disconnect()
  const sent = [await alice.client.send(bob.alias, 'one'), await alice.client.send(bob.alias, 'two')]
  for (const { id } of sent) await alice.sees(bob.alias, id, 'sent')
  await bob.connect()
  for (const { id } of sent) await alice.sees(bob.alias, id, 'delivered')
})

test('message status: a read receipt marks messages up to its seq as read, and leaves later ones unchanged', async () => {
  const recorder = new Recorder()
  const [alice, bob] = [await world.join('alice'), await world.join('bob', recorder)]
  const conversationId = await alice.befriend(bob)
  const first = await alice.client.send(bob.alias, 'one')
  await bob.receives('one')
  await bob.client.markRead(alice.alias)
  await alice.sees(bob.alias, first.id, 'read')
  const second = await alice.client.send(bob.alias, 'two')
  await alice.sees(bob.alias, second.id, 'delivered')
  expect((await alice.client.messages(bob.alias)).map(({ status }) => status)).toEqual(['read', 'delivered'])
  // Receipts contain no message id. They contain type, conv_id, seq and `to`, the alias of the messages'
  // sender.
  expect(recorder.framesOf('read')).toEqual([
    { type: 'read', conv_id: conversationId, seq: 1, to: alice.alias },
  ])
  expect(recorder.framesOf('delivered')[0]).toEqual({
    type: 'delivered',
    conv_id: conversationId,
    seq: 1,
    to: alice.alias,
  })
})

test('message status: sending until the relay accepts the message, failed if the relay refuses it permanently', async () => {
  const [alice, bob] = await world.friends()
  alice.client.disconnect()
  const sent = await alice.client.send(bob.alias, 'too late')
  expect(sent.status).toBe('sending')
  await bob.client.removeFriend(bob.client.friends()[0]?.friendship_id ?? 0)
  await alice.connect()
  expect(await alice.sees(bob.alias, sent.id, 'failed')).toMatchObject({ failure: 'NOT_FRIENDS' })
})

// States: trust, row by row

test('trust: entering the right code returns true and makes the contact verified', async () => {
  const [alice, bob] = await world.friends()
  expect(await alice.client.trustState(bob.alias)).toEqual({ status: 'unverified' })
  const { displayCode, fingerprintHex } = bob.client.securityCode(alice.alias)
  expect(await alice.client.verifySecurityCode(bob.alias, displayCode.toUpperCase())).toBe(true)
  expect(await alice.client.trustState(bob.alias)).toEqual({
    status: 'verified',
    verifiedAt: expect.any(Number),
    fingerprintSnapshot: fingerprintHex,
  } as never)
})

test('trust: entering a wrong code returns false and leaves the contact unverified', async () => {
  const [alice, bob] = await world.friends()
  const code = bob.client.securityCode(alice.alias).fingerprintHex
  for (const wrong of [
    '',
    'f'.repeat(60),
    code.slice(0, 59),
    `${code}0`,
    code.replace(/./, (c) => (c === '0' ? '1' : '0')),
  ])
    expect(await alice.client.verifySecurityCode(bob.alias, wrong)).toBe(false)
  expect(await alice.client.trustState(bob.alias)).toEqual({ status: 'unverified' })
})

test('trust: marking a contact makes it verified', async () => {
  const [alice, bob] = await world.friends()
  await alice.client.markVerified(bob.alias)
  expect((await alice.client.trustState(bob.alias)).status).toBe('verified')
  expect((await alice.store.listSessions())[0]?.trustState).toBe('verified')
})

test('trust: resetting a verified contact makes it unverified', async () => {
  const [alice, bob] = await world.friends()
  await alice.client.markVerified(bob.alias)
  await alice.client.resetTrust(bob.alias)
  expect(await alice.client.trustState(bob.alias)).toEqual({ status: 'unverified' })
  expect((await alice.store.listSessions())[0]?.trustState).toBe('unverified')
})

test('key guard: each message from a contact with changed keys is refused with a SecurityViolationEvent', async () => {
  const hostile = new HostileWorld()
  const bob = makePeer('bob')
  const person = await hostile.victim([bob])
  const previousFingerprint = person.client.securityCode('bob').fingerprintHex
  hostile.relay.friends = [friendOf(makePeer('bob', bob.conversationId))]
  await person.client.syncFriends()
  const before = person.heard.security_violation.length
  for (const seq of [1, 2]) hostile.relay.send(msg(bob, person, seq, `refused ${seq}`))
  await until(
    'the client has refused both messages',
    () => person.heard.security_violation.length >= before + 2,
  )
  expect(person.heard.message).toEqual([])
  for (const violation of person.heard.security_violation)
    expect(violation).toEqual({
      type: 'security_violation',
      contactId: 'bob',
      previousFingerprint,
      currentFingerprint: expect.stringMatching(/^[0-9a-f]{60}$/),
      detectedAt: expect.any(Number),
      message: null,
    })
  await hostile.stop()
})
