// A relay that swaps, truncates, repeats, reorders and inflates frames.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import type { SessionRecord, StoredIdentity, TrustState } from '../src/client.ts'
import { friendOf, type HostileRelay, makePeer, type Peer } from './hostile-relay.ts'
import { HostileWorld, idOf, msg, textsOf } from './hostile-world.ts'
import { type Person, until } from './people.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

let world: HostileWorld
let relay: HostileRelay

beforeEach(() => {
  world = new HostileWorld()
  relay = world.relay
})
afterEach(() => world.stop())

interface ProtectedState {
  readonly identity: StoredIdentity | undefined
  readonly sessions: readonly SessionRecord[]
  readonly trust: readonly TrustState[]
}

/** The data that no relay may change: the identity, the contacts' keys, and their trust states. */
async function protectedState(person: Person): Promise<ProtectedState> {
  const sessions = await person.store.listSessions()
  return {
    identity: await person.store.getIdentity(),
    sessions,
    trust: await Promise.all(sessions.map(({ conversationId }) => person.store.getTrust(conversationId))),
  }
}

/** Looks up a contact. The relay answers with this peer's keys. */
function lookUp(person: Person, peer: Peer, fields: Record<string, unknown> = {}): Promise<unknown> {
  relay.answers[`GET /users/${peer.aliasId}`] = () => ({
    body: {
      alias_id: peer.aliasId,
      nickname: 'whoever',
      x25519_public_key: peer.x25519,
      ed25519_public_key: peer.ed25519,
      ...fields,
    },
  })
  return person.client.lookUpUser(peer.aliasId)
}

test('a forged 409 does not change the account on the device', async () => {
  const person = await world.victim([makePeer('bob')])
  const before = await protectedState(person)
  const mnemonic = before.identity?.mnemonic ?? ''
  relay.answers['POST /register'] = () => ({
    status: 409,
    body: { error: 'ACCOUNT_EXISTS', uuid: crypto.randomUUID(), alias_id: 'somebody_else' },
  })
  relay.answers['POST /auth/verify'] = () => ({ status: 401, body: { error: 'SIGNATURE_INVALID' } })
  expect(await failureOf(person.client.recover({ mnemonic, replace: true }))).toMatchObject({
    code: 'ACCOUNT_NOT_FOUND',
  })
  expect(await failureOf(person.client.create({ nickname: 'x', mnemonic, replace: true }))).toMatchObject({
    code: 'ACCOUNT_NOT_FOUND',
  })
  expect(await protectedState(person)).toEqual(before)
})

test('a lookup with swapped keys is a security violation, and the client sends nothing under them', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  await person.client.markVerified('bob')
  const before = await protectedState(person)
  await lookUp(person, bob)
  expect(person.heard.security_violation).toEqual([])

  // The friend list fails for now, so only the lookup can make the client refuse the keys.
  relay.answers['GET /friends'] = () => ({ status: 503, body: { error: 'SHUTTING_DOWN' } })
  await lookUp(person, makePeer('bob', bob.conversationId))
  expect(person.heard.security_violation).toMatchObject([{ contactId: 'bob', message: null }])
  expect(await failureOf(person.client.send('bob', 'secret'))).toMatchObject({ code: 'KEY_CHANGED' })
  expect(await protectedState(person)).toEqual(before)

  delete relay.answers['GET /friends']
  await person.client.syncFriends()
  await person.client.send('bob', 'with his own keys again')
})

test('the client refuses a lookup reply for another account', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  expect(await failureOf(lookUp(person, bob, { alias_id: 'carol' }))).toMatchObject({ code: 'BAD_REPLY' })
})

test('swapping two contacts’ keys in the friend list causes two violations and changes no session', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  const before = await protectedState(person)
  const keysOf = ({ x25519, ed25519 }: Peer) => ({ x25519_public_key: x25519, ed25519_public_key: ed25519 })
  relay.friends = [friendOf(bob, keysOf(carol)), friendOf(carol, keysOf(bob))]
  await person.client.syncFriends()
  expect(person.heard.security_violation.map(({ contactId }) => contactId).toSorted()).toEqual([
    'bob',
    'carol',
  ])
  for (const contact of ['bob', 'carol'])
    expect(await failureOf(person.client.send(contact, 'x'))).toMatchObject({ code: 'KEY_CHANGED' })
  expect(await protectedState(person)).toEqual(before)
})

test('swapping two contacts’ conversations in the friend list changes no session', async () => {
  const [bob, carol] = [makePeer('bob'), makePeer('carol')]
  const person = await world.victim([bob, carol])
  const before = await protectedState(person)
  relay.friends = [
    friendOf(bob, { conversation_id: carol.conversationId }),
    friendOf(carol, { conversation_id: bob.conversationId }),
  ]
  await person.client.syncFriends()
  expect(await protectedState(person)).toEqual(before)
  expect(await failureOf(person.client.send('bob', 'x'))).toMatchObject({ code: 'KEY_CHANGED' })
})

test('a message in an unknown conversation is not shown', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 1, 'lost', { conv_id: crypto.randomUUID() }))
  relay.send(msg(bob, person, 2, 'found'))
  await person.receives('found')
  expect(person.heard.message.map(({ text }) => text)).toEqual(['found'])
  expect((await person.client.conversations()).length).toBe(1)
})

test('truncated frames are reported and dropped, and the next frame is processed', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const whole = JSON.stringify(msg(bob, person, 1, 'whole'))
  const lengths = Array.from({ length: 40 }, (_, at) => Math.floor((whole.length * at) / 40))
  for (const length of lengths) relay.send(whole.slice(0, length))
  const payload = String(msg(bob, person, 1, 'x').payload)
  relay.send(msg(bob, person, 1, 'cut', { payload: payload.slice(0, 20) }))
  relay.send(msg(bob, person, 2, 'whole'))
  await person.receives('whole')
  // The frame with the truncated payload is valid, so it is stored as an undecryptable message.
  expect(person.heard.message.map(({ msgType }) => msgType)).toEqual(['undecryptable', 'text'])
  expect(person.heard.error.filter(({ code }) => code === 'BAD_REPLY').length).toBe(lengths.length)
  expect(person.client.networkState).toBe('connected')
})

test('messages that arrive repeatedly and out of order are stored once, in the order of seq', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const seqs = [5, 1, 4, 2, 3]
  for (const seq of [...seqs, ...seqs.toReversed()]) relay.send(msg(bob, person, seq, `m${seq}`))
  await world.settled(person)
  expect(person.heard.message.map(({ text }) => text)).toEqual(seqs.map((seq) => `m${seq}`))
  expect(await textsOf(person, bob)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
})

test('a retraction that arrives before its message removes no message', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 1, 'stays'))
  relay.send({
    type: 'retract',
    id: idOf('comes later'),
    to: person.alias,
    conv_id: bob.conversationId,
    from: 'bob',
    seq: 2,
    at: 2,
  })
  relay.send(msg(bob, person, 3, 'comes later'))
  await person.receives('comes later')
  expect(person.heard.retracted).toEqual([])
  expect(await textsOf(person, bob)).toEqual(['stays', 'comes later'])
})

test('receipts for a seq that does not exist yet mark no message, now or later', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const receipt = (type: string, seq: number) => ({
    type,
    conv_id: bob.conversationId,
    seq,
    to: person.alias,
    from: 'bob',
  })
  relay.send(receipt('read', 1_000_000))
  relay.send(receipt('delivered', Number.MAX_SAFE_INTEGER))
  await world.settled(person)
  const sent = await person.client.send('bob', 'unread')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 7, at: 1 })
  await person.sees('bob', sent.id, 'sent')
  relay.send(receipt('read', 6))
  await world.settled(person)
  expect(await person.transcript('bob')).toEqual(['me: unread [sent]'])
})

test('a seq that decreases or repeats changes no stored message', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  relay.send(msg(bob, person, 9, 'nine'))
  relay.send(msg(bob, person, 9, 'nine again'))
  relay.send(msg(bob, person, 3, 'three'))
  await person.receives('three')
  await person.client.markRead('bob')
  relay.send(msg(bob, person, 2, 'two'))
  await person.receives('two')
  await person.client.markRead('bob')
  const sent = await person.client.send('bob', 'mine')
  await until('the client has sent the message', () => relay.framesOf('msg').length === 1)
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 20, at: 1 })
  relay.send({ type: 'ack', id: sent.id, conv_id: bob.conversationId, seq: 1, at: 1 })
  await world.settled(person)
  expect((await person.client.messages('bob')).map(({ text, seq }) => [seq, text])).toEqual([
    [2, 'two'],
    [3, 'three'],
    [9, 'nine'],
    [20, 'mine'],
  ] as never)
  // The read position never decreases.
  expect(relay.framesOf('read').map(({ seq }) => seq)).toEqual([9])
})

test('the client refuses huge frames, ids and payloads, and still accepts frames of valid size', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const huge = 'A'.repeat(2 * 1024 * 1024)
  relay.send(huge)
  relay.send(msg(bob, person, 1, 'x', { payload: huge }))
  relay.send(msg(bob, person, 1, 'x', { id: huge }))
  relay.send({ type: 'error', error: 'INTERNAL', message: huge, id: huge })
  relay.send({ type: huge })
  relay.send(`{"type":"pong","at":1,"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
  relay.send(msg(bob, person, 2, 'still here'))
  await person.receives('still here')
  expect(await textsOf(person, bob)).toEqual(['still here'])
})

test('payloads that cannot be decrypted are stored as undecryptable, each with its seq', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const payloads = ['AAAA', 'A'.repeat(36), `${'A'.repeat(43)}=`, btoa('x'.repeat(3000))]
  for (const [at, payload] of payloads.entries())
    relay.send(msg(bob, person, at + 1, `bad ${at}`, { payload, id: `bad-${at}` }))
  relay.send(msg(bob, person, 9, 'of a later scheme', { crypto_v: 200 }))
  relay.send(msg(bob, person, 10, 'good'))
  await person.receives('good')
  const kinds = (await person.client.messages('bob')).map(({ msgType, seq }) => [seq, msgType])
  expect(kinds.at(-1)).toEqual([10, 'text'] as never)
  expect(kinds.slice(0, -1).every(([, kind]) => kind === 'undecryptable')).toBe(true)
  // A later version of the client may know this scheme, so the client stores the payload unchanged.
  expect(await person.store.listOfflineMessages(bob.conversationId)).toMatchObject([
    { seq: 9, cryptoVersion: 200 },
  ])
})

test('texts that look like media or JSON are shown as text', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const texts = [
    '{"type":"image","key":"../../etc"}',
    '{"type":"file","key":"a","name":5,"size":-1}',
    '{"__proto__":{"text":"x"}}',
    '[file]m_x|name|99999999999999999999',
    '\u0000\u202e\uFFFF',
    '{"text":5,"replyToId":{}}',
  ]
  for (const [at, text] of texts.entries()) relay.send(msg(bob, person, at + 1, text, { id: `t${at}` }))
  await until('all messages have arrived', () => person.heard.message.length === texts.length)
  expect(person.heard.message.map(({ msgType }) => msgType)).toEqual(texts.map(() => 'text'))
})

test('a refusal that nothing waits for is an error with its code, if this version knows it', async () => {
  const person = await world.victim([])
  for (const error of ['CHANNEL_CLOSED', 'NO_SUCH_CODE', 'toString'])
    relay.send({ type: 'error', error, message: 'words' })
  await until('the application gets them', () => person.heard.error.length === 3)
  expect(person.heard.error).toMatchObject([
    { code: 'REFUSED', refusal: 'CHANNEL_CLOSED', message: 'CHANNEL_CLOSED: words', retry: 'never' },
    { code: 'REFUSED', refusal: undefined, message: 'NO_SUCH_CODE: words', retry: undefined },
    { code: 'REFUSED', refusal: undefined, message: 'toString: words', retry: undefined },
  ])
})

test('an unexpected goaway, error or sync_end loses no message', async () => {
  const bob = makePeer('bob')
  const person = await world.victim([bob])
  const sent = await person.client.send('bob', 'mine')
  for (const error of ['MAILBOX_FULL', 'INTERNAL', 'RATE_LIMITED', 'NO_SUCH_CODE'])
    relay.send({ type: 'error', error, message: '', id: sent.id, retry_after_ms: 1e300 })
  relay.send({ type: 'sync_end', count: 5 })
  relay.send({ type: 'goaway', reason: 'account_deleted' })
  await until('the application gets the goaway', () => person.heard.goaway.length === 1)
  expect(person.client.networkState).toBe('disconnected')
  expect(await person.transcript('bob')).toEqual(['me: mine [sending]'])
  expect(await person.client.countUnsent()).toBe(1)
})
