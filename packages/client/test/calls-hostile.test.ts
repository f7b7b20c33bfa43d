// Signals that a client must refuse or repeat: replayed, altered, late, duplicated, from an unauthorised
// sender, or lost because the relay restarts.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { type CallSignalFields, type CallSignalType, signCallSignal } from '@sotto/crypto'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Calls } from '../src/calls/calls.ts'
import { Caller, callers, connect, settled } from './call-people.ts'
import { friendOf, makePeer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()
const hostile = new HostileWorld()
afterAll(() => hostile.stop())

test('a replayed signal has no effect', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.calls.hangUp()
  await bob.is('hangup')
  const heard = [...bob.states]
  for (const frame of alice.signals) alice.sendRaw(frame)
  await settled(alice, bob)
  expect(bob.refused.map(({ reason }) => reason)).toEqual(['REPLAYED', 'REPLAYED'])
  expect(bob.states).toEqual(heard)
})

test('a signal whose frame was altered has no effect', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.calls.hangUp()
  await bob.is('hangup')
  const [offer] = alice.signals
  const flipped = Buffer.from(offer?.payload ?? '', 'base64')
  flipped[40] = (flipped[40] ?? 0) ^ 1
  for (const change of [
    { call_id: 'another' },
    { type: 'call_hangup' },
    { crypto_v: 1 },
    { payload: flipped.toString('base64') },
  ])
    alice.sendRaw({ ...offer, ...change })
  await settled(alice, bob, 1)
  const reasons = ['MISMATCH', 'MISMATCH', 'WRONG_VERSION', 'DECRYPTION_FAILED']
  expect(bob.refused).toEqual(reasons.map((reason) => ({ from: alice.alias, reason })) as never)
  expect(bob.states).toEqual(['ringing', 'hangup: hung_up_by_peer'])
})

test('an offer dated over a minute in the past or future does not ring, and the application learns why', async () => {
  // The clocks stand still, so a signal does not get older in transit, and a signal dated in the future stays
  // in the future.
  const nowMs = Date.now()
  const bob = await Caller.join(world, 'bob', { now: () => nowMs })
  for (const offMs of [-60_001, 60_001]) {
    const alice = await Caller.join(world, 'alice', { now: () => nowMs + offMs })
    await alice.person.befriend(bob.person)
    await alice.calls.call(bob.alias)
    await until('bob’s application gets the refusal', () =>
      bob.refused.some(({ from }) => from === alice.alias),
    )
  }
  expect(bob.refused.map(({ reason }) => reason)).toEqual(['STALE', 'STALE'])
  expect(bob.calls.state).toBe('idle')
})

test('answers and candidates that belong to another call, or arrive late or twice, have no effect', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  bob.calls.hangUp()
  await alice.is('hangup')
  const before = bob.peer
  before.findCandidate('too late')
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  await until('alice has processed the answer', () => alice.peer.receivedUnder.length === 1)
  // Bob loses his connection and sends all his signals again.
  const answers = bob.signals.length
  await world.relay.kill('SIGKILL')
  await world.relay.start()
  await until('bob sends his signals again', () => bob.signals.length > answers)
  await until('alice is connected again', () => alice.person.client.networkState === 'connected')
  await settled(bob, alice)
  expect(alice.peer.descriptions).toEqual(['sdp of an answer'])
  expect(alice.peer.candidates).toEqual([])
  expect(alice.calls.state).toBe('connecting')
})

test('after a relay restart during call setup, the caller sends the offer again with all candidates it has found', async () => {
  const [alice, bob] = await callers(world)
  bob.person.client.disconnect()
  await alice.calls.call(bob.alias)
  alice.peer.findCandidate('before')
  await until('alice has sent the offer and the candidate', () => alice.signals.length === 2)
  await world.relay.kill('SIGKILL')
  await until('alice has lost the connection', () => alice.person.client.networkState === 'connecting')
  alice.peer.findCandidate('without a connection')
  expect(alice.signals).toHaveLength(2)
  await world.relay.start()
  await until('alice is connected again', () => alice.person.client.networkState === 'connected')
  await bob.person.connect()
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  await until('bob has both candidates', () => bob.peer.candidates.length === 2)
  expect(bob.peer.candidates).toEqual(['before', 'without a connection'])
})

test('a hang-up without a connection is sent once the client reconnects', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  await bob.loseConnection()
  bob.calls.hangUp()
  await alice.is('hangup: hung_up_by_peer')
})

test('an answer that was lost while the caller was disconnected is sent again', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await alice.loseConnection()
  // Alice is disconnected, and the relay does not store answers.
  await bob.calls.accept()
  await alice.is('connecting')
  await until('alice has the answer', () => alice.peer.descriptions.length === 1)
})

test('a signal from a contact whose keys changed is refused with a security violation, as a message is', async () => {
  const peer = makePeer('peer_one')
  const person = await hostile.victim([peer])
  const refused: string[] = []
  const calls = new Calls(person.client, () => {
    throw new Error('never called')
  })
  calls.onRefused(({ reason }) => refused.push(reason))
  const offer = {
    type: 'call_offer',
    to: person.alias,
    call_id: 'c',
    from: peer.aliasId,
    crypto_v: 2,
    payload: 'AAAA',
  }
  hostile.relay.send(offer)
  await until('the client has refused the undecryptable offer', () => refused.length === 1)
  expect(person.heard.security_violation).toEqual([])

  hostile.relay.friends = [friendOf(peer, { ed25519_public_key: makePeer('peer_one').ed25519 })]
  await person.client.syncFriends()
  const violations = person.heard.security_violation.length
  hostile.relay.send(offer)
  await until('the client has refused the offer after the key change', () => refused.length === 2)
  hostile.relay.send({ ...offer, from: 'nobody_known' })
  await until('the client has refused the stranger’s offer', () => refused.length === 3)
  expect(refused).toEqual(['DECRYPTION_FAILED', 'KEY_CHANGED', 'UNKNOWN_CONTACT'])
  expect(person.heard.security_violation.length).toBe(violations + 1)
  expect(await failureOf(calls.call(peer.conversationId))).toMatchObject({ code: 'KEY_CHANGED' })
  expect(calls.state).toBe('idle')
})

test('an offer that the relay refuses to forward ends the call', async () => {
  const [alice, bob] = await callers(world)
  const [friend] = bob.person.client.friends()
  await bob.person.client.removeFriend(friend?.friendship_id ?? 0)
  await alice.calls.call(bob.alias)
  await alice.is('ended: failed')
})

test('a client takes a limited number of candidates from a friend that sends them without end', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  const sent = bob.signals.length
  for (let n = 0; n < 200; n += 1) bob.peer.findCandidate(`way ${n}`)
  await bob.hasSent(sent + 200)
  await settled(bob, alice)
  expect(alice.peer.candidates).toEqual(Array.from({ length: 64 }, (_, n) => `way ${n}`))
  expect(alice.calls.state).toBe('connected')
})

test('a failure from an earlier call does not end the call that rings now', async () => {
  const [alice, bob] = [
    await Caller.join(world, 'alice'),
    await Caller.join(world, 'bob', { relayOnly: true }),
  ]
  await alice.person.befriend(bob.person)
  expect(await failureOf(bob.calls.call(alice.alias))).toMatchObject({ code: 'UNSUPPORTED' })
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.line.isDead = true
  alice.calls.hangUp()
  await alice.hasLost(1)
  alice.line.isDead = false
  await alice.calls.call(bob.alias)
  await until('the second call rings', () => bob.info.id === alice.info.id)
  await settled(alice, bob)
  expect(bob.calls.state).toBe('ringing')
})

test('invalid fields from a friend do not change a call in any state', async () => {
  const [alice, bob] = await callers(world)
  const lies: CallSignalFields[] = [
    ...[{}, { sdp: 7 }, { sdp: '' }, { sdp: 'x', sdp_type: 'rollback' }, { sdp: 'x', restart: '1' }],
    ...[{ candidate: {} }, { candidate: 7, sdpMid: 0 }, { reason: {} }, { renew: 'yes', reoffer: 'yes' }],
    ...[{ epoch: -1 }, { epoch: 1e300 }, { epoch: '2', audio: 'no', video: null }, { epoch: null }],
  ]
  const lie = async (from: Caller, to: Caller, ...types: CallSignalType[]): Promise<void> => {
    const before = to.calls.state
    const { id } = from.info
    for (const type of types) for (const fields of lies) await from.sendSignal(type, to, id, fields)
    // The same signals for a call that does not exist.
    for (const type of types) await from.sendSignal(type, to, 'another', {})
    await settled(from, to)
    expect(to.calls.state).toBe(before)
  }
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await lie(bob, alice, 'call_ice', 'call_offer')
  await lie(alice, bob, 'call_ice', 'call_offer', 'call_answer', 'call_reject')
  await bob.calls.accept()
  await alice.is('connecting')
  for (const _ of ['connecting', 'connected']) {
    for (const [from, to] of [
      [alice, bob],
      [bob, alice],
    ] as const)
      await lie(from, to, 'call_ice', 'call_offer', 'call_answer', 'call_reject')
    for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
  }
  expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
  for (const { peer } of [alice, bob]) {
    expect([peer.sentUnder, peer.receivedUnder, peer.restarts]).toEqual([[1], [1], []])
    expect(peer.descriptions).toHaveLength(1)
  }
  // An invalid answer ends its call.
  alice.calls.hangUp()
  await bob.is('hangup')
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.sendSignal('call_answer', alice, alice.info.id, { sdp: 7 })
  await alice.is('ended: failed')
  await bob.is('hangup')
})

test('a call ends without further signals if the caller’s keys change while it rings', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const bytesOf = (part: string | undefined): Buffer => Buffer.from(part ?? '', 'base64url')
  const signing = bytesOf(publicKey.export({ format: 'jwk' }).x).toString('base64')
  const peer = { ...makePeer('peer_two'), ed25519: signing }
  const person = await hostile.victim([peer])
  const calls = new Calls(person.client, () => {
    throw new Error('never called')
  })
  const inner = {
    ...{ type: 'call_offer', call_id: 'c', from: peer.aliasId, _ts: Date.now(), _nonce: 'ab'.repeat(16) },
    ...{ sdp: 'sdp of an offer', epoch: 1 },
  }
  const _sig = await signCallSignal(bytesOf(privateKey.export({ format: 'jwk' }).d), inner)
  const payload = peer.payloadTo(
    person.client.identity?.ecdhPublicKey ?? '',
    JSON.stringify({ ...inner, _sig }),
  )
  const { type, call_id, from } = inner
  hostile.relay.send({ type, to: person.alias, call_id, from, crypto_v: 2, payload })
  await until('the call rings', () => calls.state === 'ringing')
  hostile.relay.friends = [friendOf(peer, { ed25519_public_key: makePeer('peer_two').ed25519 })]
  await person.client.syncFriends()
  expect(calls.current).toMatchObject({ state: 'ended', end: 'failed' })
  expect(await failureOf(calls.accept())).toMatchObject({ code: 'INVALID_ARGUMENT' })
  await until('the application gets the error', () =>
    person.heard.error.some(({ code }) => code === 'KEY_CHANGED'),
  )
})

test('a client that hangs up while it prepares its offer or answer sends neither, and closes its media', async () => {
  const [alice, bob] = await callers(world)
  for (const step of ['createOffer', 'sendUnder']) {
    const gate = alice.holdAt(step)
    const calling = alice.calls.call(bob.alias)
    await gate.reached
    alice.calls.hangUp()
    gate.open()
    expect(await calling).toMatchObject({ state: 'hangup', end: 'hung_up' })
    expect(alice.peer.isClosed).toBe(true)
  }
  for (const step of ['createAnswer', 'receiveUnder', 'sendUnder', 'addCandidate']) {
    await alice.calls.call(bob.alias)
    const sent = alice.signals.length
    alice.peer.findCandidate('a candidate')
    await alice.hasSent(sent + 1)
    await bob.is('ringing')
    await settled(alice, bob)
    const gate = bob.holdAt(step)
    const accepting = bob.calls.accept()
    await gate.reached
    // In the last step the caller hangs up, in the others the callee.
    if (step === 'addCandidate') alice.calls.hangUp()
    else bob.calls.hangUp()
    await bob.is('hangup')
    gate.open()
    expect(await accepting).toMatchObject({ state: 'hangup' })
    await alice.is('hangup')
    expect([alice.peer.isClosed, bob.peer.isClosed]).toEqual([true, true])
  }
  await connect(alice, bob)
  const types = [...alice.signals, ...bob.signals].map(({ type }) => type)
  expect(types.filter((type) => type === 'call_answer')).toHaveLength(1)
  expect(types.filter((type) => type === 'call_offer')).toHaveLength(5)
})

test('a call that ends while the browser makes its offer or answer is not waited for', async () => {
  const [alice, bob] = await callers(world)
  // A browser never ends a step of a connection that was closed, so the test never opens these gates.
  let gate = alice.holdAt('createOffer')
  const calling = alice.calls.call(bob.alias)
  await gate.reached
  alice.calls.hangUp()
  expect(await calling).toMatchObject({ state: 'hangup', end: 'hung_up' })
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  gate = bob.holdAt('createAnswer')
  const accepting = bob.calls.accept()
  await gate.reached
  alice.calls.hangUp()
  expect(await accepting).toMatchObject({ state: 'hangup', end: 'hung_up_by_peer' })
  await connect(alice, bob)
})
