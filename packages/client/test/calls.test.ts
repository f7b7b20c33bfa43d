// Calls between two clients through a real relay: how they begin and end, and what the relay sees.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Calls } from '../src/calls/calls.ts'
import { keyVault, MemoryStore, SottoClient } from '../src/client.ts'
import { Caller, callers, connect } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

test('a friend accepts a call, both sides connect, and the friend hangs up', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  expect(bob.info).toMatchObject({ id: alice.info.id, isCaller: false, state: 'ringing' })
  await bob.calls.accept()
  await alice.is('connecting')
  expect(bob.peer.descriptions).toEqual(['sdp of an offer'])
  await until('the caller has processed the answer', () => alice.peer.receivedUnder.length === 1)
  expect(alice.peer.descriptions).toEqual(['sdp of an answer'])
  for (const { peer } of [alice, bob]) {
    expect([peer.sentUnder, peer.receivedUnder]).toEqual([[1], [1]])
    peer.options.onMedia('media_connected')
  }
  bob.calls.hangUp()
  await alice.is('hangup')
  expect(alice.states).toEqual(['calling', 'connecting', 'connected', 'hangup: hung_up_by_peer'])
  expect(bob.states).toEqual(['ringing', 'connecting', 'connected', 'hangup: hung_up'])
  expect([alice.peer.isClosed, bob.peer.isClosed]).toEqual([true, true])
})

test('each side has the other’s sending key, and every track, epoch, side and call has a different key', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  const keys = [await alice.peer.keyOf('own'), await alice.peer.keyOf('theirs')]
  expect([await bob.peer.keyOf('theirs'), await bob.peer.keyOf('own')]).toEqual(keys)
  keys.push(await alice.peer.keyOf('own', '1'), await alice.peer.keyOf('own', '0', 2))
  alice.calls.hangUp()
  await bob.is('hangup')
  await connect(alice, bob)
  keys.push(await alice.peer.keyOf('own'), await alice.peer.keyOf('theirs'))
  expect(new Set(keys).size).toBe(6)
})

test('the relay sees who calls whom and when, and no content of the signals', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.findCandidate('candidate:1 1 udp 1 192.0.2.7 9 typ host')
  await until('bob has the candidate', () => bob.peer.candidates.length === 1)
  alice.calls.hangUp()
  await bob.is('hangup')
  const frames = [...alice.signals, ...bob.signals]
  expect(frames.map(({ type }) => type)).toEqual(['call_offer', 'call_ice', 'call_hangup', 'call_answer'])
  const parties = { from: alice.alias, to: bob.alias }
  for (const { payload, ...frame } of frames) {
    const isAnswer = frame.type === 'call_answer'
    expect(frame as object).toEqual({
      ...{ type: frame.type, call_id: alice.info.id, crypto_v: 2 },
      ...(isAnswer ? { from: parties.to, to: parties.from } : parties),
    })
    // Short words are searched with their quotes, because random bytes and Base64 can contain the letters
    // alone.
    const seen = `${payload} ${Buffer.from(payload, 'base64').toString('latin1')}`
    for (const word of ['"sdp"', 'candidate', '192.0.2.7', '"epoch"', '_nonce', '"_sig"'])
      expect(seen).not.toContain(word)
  }
})

test('after a rejected call the same friend can be called again', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.calls.hangUp()
  await alice.is('rejected')
  expect([alice.states.at(-1), bob.states.at(-1)]).toEqual(['rejected: declined', 'rejected: declined'])
  await connect(alice, bob)
})

test('a client in a call rejects other callers as busy, and cannot start or accept another call', async () => {
  const [alice, bob] = await callers(world)
  const carol = await Caller.join(world, 'carol')
  await carol.person.befriend(bob.person)
  for (const state of ['ringing', 'connecting', 'connected']) {
    if (state === 'ringing') await alice.calls.call(bob.alias)
    if (state === 'connecting') await bob.calls.accept()
    if (state === 'connected') bob.peer.options.onMedia('media_connected')
    await bob.is(state)
    await carol.calls.call(bob.alias)
    await carol.is('rejected: busy')
  }
  expect(bob.states).toEqual(['ringing', 'connecting', 'connected'])
  expect(await failureOf(bob.calls.call(carol.alias))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await failureOf(bob.calls.accept())).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(bob.calls.state).toBe('connected')
})

test('two friends who call each other at the same time end up in one call', async () => {
  for (let round = 0; round < 4; round += 1) {
    const [alice, bob] = await callers(world)
    await Promise.all([alice.calls.call(bob.alias), bob.calls.call(alice.alias)])
    const [first, second] = alice.alias < bob.alias ? [alice, bob] : [bob, alice]
    await Promise.all([alice.is('connecting'), bob.is('connecting')])
    expect(alice.info.id).toBe(bob.info.id)
    expect([first.info.isCaller, second.info.isCaller]).toEqual([true, false])
    expect(first.peers).toHaveLength(1)
    // The client closes the media of the call it gave up, if it had opened them.
    expect(second.peers.filter(({ isClosed }) => !isClosed)).toEqual([second.peer])
    await until('the caller has processed the answer', () => first.peer.receivedUnder.length === 1)
    expect(await first.peer.keyOf('own')).toBe(await second.peer.keyOf('theirs'))
    for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
    expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
    for (const { calls } of [alice, bob]) calls.close()
  }
})

test('an unanswered call ends on both sides', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.endWait(45_000)
  expect(alice.states.at(-1)).toBe('ended: unanswered')
  await bob.is('hangup: hung_up_by_peer')
  expect(await failureOf(bob.calls.accept())).toMatchObject({ code: 'INVALID_ARGUMENT' })
  // The callee also gives up by itself.
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.endWait(45_000)
  expect(bob.states.at(-1)).toBe('ended: unanswered')
  expect(await failureOf(bob.calls.accept())).toMatchObject({ code: 'INVALID_ARGUMENT' })
})

test('media that do not connect end the call on both sides', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  alice.endWait(30_000)
  const ends = ['ended: no_media', 'hangup: hung_up_by_peer']
  for (const { states } of [alice, bob])
    await until('both sides have ended the call', () => ends.includes(states.at(-1) ?? ''))
  expect([...alice.states, ...bob.states]).toContain('ended: no_media')
})

test('interrupted media can connect again, and failed media end the call', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.options.onMedia('media_interrupted')
  expect(alice.calls.state).toBe('connecting')
  alice.peer.options.onMedia('media_connected')
  expect(alice.calls.state).toBe('connected')
  alice.peer.options.onMedia('media_failed')
  expect(alice.states.at(-1)).toBe('ended: connection_lost')
  await bob.is('hangup: hung_up_by_peer')
})

test('hanging up ends a call in every state', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.calls.hangUp()
  await bob.is('hangup: hung_up_by_peer')
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  alice.calls.hangUp()
  await bob.is('hangup: hung_up_by_peer')
  await connect(bob, alice)
  bob.calls.hangUp()
  await alice.is('hangup: hung_up_by_peer')
  // Alice hangs up before her client has sent the offer. Bob does not ring, or stops ringing.
  const calling = alice.calls.call(bob.alias)
  alice.calls.hangUp()
  await calling
  await connect(bob, alice)
})

test('a call with its candidates waits for a friend who is disconnected', async () => {
  const [alice, bob] = await callers(world)
  bob.person.client.disconnect()
  await alice.calls.call(bob.alias)
  for (const candidate of ['one', 'two', 'three']) alice.peer.findCandidate(candidate)
  await until('alice has sent the offer and the candidates', () => alice.signals.length === 4)
  await bob.person.connect()
  await bob.is('ringing')
  await bob.calls.accept()
  await until('bob has all three candidates', () => bob.peer.candidates.length === 3)
  expect(bob.peer.candidates).toEqual(['one', 'two', 'three'])
})

test('a call without a connection fails with NETWORK, and a call to a stranger with UNKNOWN_CONTACT', async () => {
  const [alice, bob] = await callers(world)
  alice.person.client.disconnect()
  expect(await failureOf(alice.calls.call(bob.alias))).toMatchObject({ code: 'NETWORK' })
  expect(await failureOf(alice.calls.call('nobody_here'))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect(alice.calls.state).toBe('idle')
})

test('a client that disconnects leaves the call', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.person.client.disconnect()
  expect(alice.states.at(-1)).toBe('ended: stopped')
  expect(alice.peer.isClosed).toBe(true)
})

test('a client hangs up before it locks, logs out, closes or changes its identity', async () => {
  const ends: readonly ((alice: Caller) => Promise<unknown>)[] = [
    ({ person }) => person.client.lock(),
    ({ person }) => person.client.logOut(),
    ({ person }) => person.client.create({ nickname: 'another', replace: true }),
    ({ person }) => person.client.close(),
    async ({ calls, person }) => {
      calls.close()
      await person.client.close()
    },
  ]
  for (const end of ends) {
    const secrets = keyVault(crypto.getRandomValues(new Uint8Array(32)))
    const [alice, bob] = await callers(world, { secrets })
    await connect(alice, bob)
    await end(alice)
    await bob.is('hangup: hung_up_by_peer')
    expect(alice.peer.isClosed).toBe(true)
    expect(alice.person.heard.error).toEqual([])
  }
})

test('a client locks and closes even if closing the media throws', async () => {
  const secrets = keyVault(crypto.getRandomValues(new Uint8Array(32)))
  const [alice, bob] = await callers(world, { secrets })
  const { client, heard } = alice.person
  const breakClose = (): void => {
    alice.peer.close = () => {
      throw new Error('the media cannot be closed')
    }
  }
  await connect(alice, bob)
  breakClose()
  await client.lock()
  expect(client.networkState).toBe('disconnected')
  await bob.is('hangup: hung_up_by_peer')
  expect(heard.error).toHaveLength(1)
  await client.unlock()
  await until('alice is connected', () => client.networkState === 'connected')
  await connect(alice, bob)
  breakClose()
  await client.close()
  await bob.is('hangup: hung_up_by_peer')
})

test('a client that locks while it calls withdraws its offer', async () => {
  const secrets = keyVault(crypto.getRandomValues(new Uint8Array(32)))
  const [alice, bob] = await callers(world, { secrets })
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await alice.person.client.lock()
  await bob.is('hangup: hung_up_by_peer')
  // After unlocking it can call again.
  await alice.person.client.unlock()
  await until('alice is connected', () => alice.person.client.networkState === 'connected')
  await connect(alice, bob)
})

test('a call with `relayOnly` fails without a TURN server', async () => {
  const [alice, bob] = await callers(world, { relayOnly: true })
  expect(await failureOf(alice.calls.call(bob.alias))).toMatchObject({ code: 'UNSUPPORTED' })
  expect(alice.states).toEqual(['calling', 'ended: failed'])
  expect(alice.peers).toEqual([])
})

test('the other side learns which tracks are sent, and a poor link turns the video off', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  // Not a browser's track: the test media only check whether it is null.
  const track = { kind: 'video' } as MediaStreamTrack
  await alice.calls.setTrack('video', track)
  await until('bob learns of the video', () => bob.info.theirMedia.video)
  alice.peer.options.onMedia('link_poor')
  await until('bob learns that the video is off', () => !bob.info.theirMedia.video)
  expect(alice.info).toMatchObject({ state: 'connected', isVideoDropped: true, ownMedia: { video: false } })
  await alice.calls.setTrack('audio', track)
  await alice.calls.setTrack('video', track)
  await until('bob learns of both tracks', () => bob.info.theirMedia.video && bob.info.theirMedia.audio)
  expect(alice.info.isVideoDropped).toBe(false)
  expect(bob.peer.expected).toEqual({ audio: true, video: true })
  await alice.calls.setTrack('audio', null)
  await until('bob learns that the audio is off', () => !bob.info.theirMedia.audio)
  expect(alice.peer.tracks).toEqual(['video on', 'video off', 'audio on', 'video on', 'audio off'])
})

test('a side starts a new epoch before its counter runs out, and at once when it has lost the counter', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.options.onEpochOver(false)
  await until('bob has the keys of epoch 2', () => bob.peer.receivedUnder.includes(2))
  expect(alice.peer.sentUnder).toEqual([1])
  alice.endWait(1000)
  await until('alice sends in epoch 2', () => alice.peer.sentUnder.includes(2))
  expect(bob.peer.sentUnder).toEqual([1])
  alice.peer.options.onEpochOver(true)
  expect(alice.peer.sentUnder).toEqual([1, 2])
  await until('alice sends in epoch 3 without a wait', () => alice.peer.sentUnder.includes(3))
  await until('bob announces an epoch too', () => bob.waitsFor(1000))
  bob.endWait(1000)
  await until('bob starts his epoch', () => bob.peer.sentUnder.includes(2))
  await until('alice has the keys of bob’s epoch', () => alice.peer.receivedUnder.includes(2))
  expect([alice.peer.receivedUnder, bob.peer.receivedUnder]).toEqual([
    [1, 2],
    [1, 2, 3],
  ])
})

test('a client has at most one Calls object, which needs an identity and can be closed', async () => {
  const client = await SottoClient.open({ relayUrl: world.relay.url, store: new MemoryStore() })
  const open = () => {
    throw new Error('never called')
  }
  const calls = new Calls(client, open)
  expect(() => new Calls(client, open)).toThrow('this client has calls already')
  expect(await failureOf(calls.call('somebody'))).toMatchObject({ code: 'NO_IDENTITY' })
  calls.close()
  await client.create({ nickname: 'one' })
  expect(await failureOf(calls.call('somebody'))).toMatchObject({ code: 'CLOSED' })
  new Calls(client, open).close()
  await client.close()
})
