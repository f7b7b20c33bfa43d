// Calls between two clients through a real relay: how they begin and end, and what the relay gets to see.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Calls } from '../src/calls/calls.ts'
import { keyVault, MemoryStore, SottoClient } from '../src/client.ts'
import { Caller, callers, connect } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(30_000)
const world = new PeopleWorld()

test('a friend is called, takes the call, and hangs up', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  expect(bob.info).toMatchObject({ id: alice.info.id, isCaller: false, state: 'ringing' })
  await bob.calls.accept()
  await alice.is('connecting')
  expect(bob.peer.descriptions).toEqual(['sdp of an offer'])
  await until('the answer is taken', () => alice.peer.receivedUnder.length === 1)
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

test('each side has the key the other sends with; tracks, epochs, sides and calls have keys of their own', async () => {
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

test('the relay sees who calls whom and when, and nothing of what is said', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.find('candidate:1 1 udp 1 192.0.2.7 9 typ host')
  await until('bob has it', () => bob.peer.candidates.length === 1)
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
    // With their quotes: three letters in a row are in random bytes, and in their Base64, now and then.
    const seen = `${payload} ${Buffer.from(payload, 'base64').toString('latin1')}`
    for (const word of ['"sdp"', 'candidate', '192.0.2.7', '"epoch"', '_nonce', '"_sig"'])
      expect(seen).not.toContain(word)
  }
})

test('a call can be rejected, and then made again', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.calls.hangUp()
  await alice.is('rejected')
  expect([alice.states.at(-1), bob.states.at(-1)]).toEqual(['rejected: declined', 'rejected: declined'])
  await connect(alice, bob)
})

test('who is in a call is busy, for friends and for the one called with', async () => {
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
  await expect(bob.calls.call(carol.alias)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(bob.calls.accept()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(bob.calls.state).toBe('connected')
})

test('two who call each other at once are in one call', async () => {
  for (let round = 0; round < 4; round += 1) {
    const [alice, bob] = await callers(world)
    await Promise.all([alice.calls.call(bob.alias), bob.calls.call(alice.alias)])
    const [first, second] = alice.alias < bob.alias ? [alice, bob] : [bob, alice]
    await Promise.all([alice.is('connecting'), bob.is('connecting')])
    expect(alice.info.id).toBe(bob.info.id)
    expect([first.info.isCaller, second.info.isCaller]).toEqual([true, false])
    expect(first.peers).toHaveLength(1)
    // The media of the call given up are closed, if there were any yet.
    expect(second.peers.filter(({ isClosed }) => !isClosed)).toEqual([second.peer])
    await until('the answer is taken', () => first.peer.receivedUnder.length === 1)
    expect(await first.peer.keyOf('own')).toBe(await second.peer.keyOf('theirs'))
    for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
    expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
    for (const { calls } of [alice, bob]) calls.close()
  }
})

test('nobody answers: both sides give up', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.endWait(45_000)
  expect(alice.states.at(-1)).toBe('ended: unanswered')
  await bob.is('hangup: hung_up_by_peer')
  await expect(bob.calls.accept()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  // Neither needs the other for it.
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.endWait(45_000)
  expect(bob.states.at(-1)).toBe('ended: unanswered')
  await expect(bob.calls.accept()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
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
    await until('both are out of it', () => ends.includes(states.at(-1) ?? ''))
  expect([...alice.states, ...bob.states]).toContain('ended: no_media')
})

test('media that break off may come back; if they do not, the call is over', async () => {
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

test('hanging up ends a call wherever it is', async () => {
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
  // Before the offer has left, too: then nothing rings, or no longer.
  const made = alice.calls.call(bob.alias)
  alice.calls.hangUp()
  await made
  await connect(bob, alice)
})

test('a call waits for a friend who is away, with its candidates', async () => {
  const [alice, bob] = await callers(world)
  bob.person.client.disconnect()
  await alice.calls.call(bob.alias)
  for (const candidate of ['one', 'two', 'three']) alice.peer.find(candidate)
  await until('all has left', () => alice.signals.length === 4)
  await bob.person.connect()
  await bob.is('ringing')
  await bob.calls.accept()
  await until('bob has all three', () => bob.peer.candidates.length === 3)
  expect(bob.peer.candidates).toEqual(['one', 'two', 'three'])
})

test('without a connection nobody is called, and says so', async () => {
  const [alice, bob] = await callers(world)
  alice.person.client.disconnect()
  await expect(alice.calls.call(bob.alias)).rejects.toMatchObject({ code: 'NETWORK' })
  await expect(alice.calls.call('nobody_here')).rejects.toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect(alice.calls.state).toBe('idle')
})

test('who disconnects leaves the call', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.person.client.disconnect()
  expect(alice.states.at(-1)).toBe('ended: stopped')
  expect(alice.peer.isClosed).toBe(true)
})

test('who locks, closes or gives way to another identity hangs up first', async () => {
  const ends: readonly ((alice: Caller) => Promise<unknown>)[] = [
    ({ person }) => person.client.lock(),
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

test('media that cannot be closed keep nobody from locking or closing', async () => {
  const secrets = keyVault(crypto.getRandomValues(new Uint8Array(32)))
  const [alice, bob] = await callers(world, { secrets })
  const { client, heard } = alice.person
  const breakDown = (): void => {
    alice.peer.close = () => {
      throw new Error('it cannot be closed')
    }
  }
  await connect(alice, bob)
  breakDown()
  await client.lock()
  expect(client.networkState).toBe('disconnected')
  await bob.is('hangup: hung_up_by_peer')
  expect(heard.error).toHaveLength(1)
  await client.unlock()
  await until('connected', () => client.networkState === 'connected')
  await connect(alice, bob)
  breakDown()
  await client.close()
  await bob.is('hangup: hung_up_by_peer')
})

test('who locks while it calls takes the offer back', async () => {
  const secrets = keyVault(crypto.getRandomValues(new Uint8Array(32)))
  const [alice, bob] = await callers(world, { secrets })
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await alice.person.client.lock()
  await bob.is('hangup: hung_up_by_peer')
  // And calls again once it is unlocked.
  await alice.person.client.unlock()
  await until('connected', () => alice.person.client.networkState === 'connected')
  await connect(alice, bob)
})

test('with `relayOnly` and no TURN server there is no call', async () => {
  const [alice, bob] = await callers(world, { relayOnly: true })
  await expect(alice.calls.call(bob.alias)).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  expect(alice.states).toEqual(['calling', 'ended: failed'])
  expect(alice.peers).toEqual([])
})

test('what is sent can be changed; the other side is told, and video goes first when the link is poor', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  // A track of no browser: these media look only whether there is one.
  const track = { kind: 'video' } as MediaStreamTrack
  await alice.calls.setTrack('video', track)
  await until('bob is told', () => bob.info.theirMedia.video)
  alice.peer.options.onMedia('link_poor')
  await until('bob is told again', () => !bob.info.theirMedia.video)
  expect(alice.info).toMatchObject({ state: 'connected', isVideoDropped: true, ownMedia: { video: false } })
  await alice.calls.setTrack('audio', track)
  await alice.calls.setTrack('video', track)
  await until('bob is told of both', () => bob.info.theirMedia.video && bob.info.theirMedia.audio)
  expect(alice.info.isVideoDropped).toBe(false)
  expect(bob.peer.expected).toEqual({ audio: true, video: true })
  await alice.calls.setTrack('audio', null)
  await until('bob is told of the silence', () => !bob.info.theirMedia.audio)
  expect(alice.peer.tracks).toEqual(['video on', 'video off', 'audio on', 'video on', 'audio off'])
})

test('an epoch ends on both sides: before its counter does, and where the counter was lost', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.options.onEpochOver(false)
  await until('bob has the keys', () => bob.peer.receivedUnder.includes(2))
  await until('alice uses them', () => alice.peer.sentUnder.includes(2))
  expect(bob.peer.sentUnder).toEqual([1])
  alice.peer.options.onEpochOver(true)
  expect(alice.peer.sentUnder).toEqual([1, 2])
  await until('alice does not wait', () => alice.peer.sentUnder.includes(3))
  await until('bob begins one as well', () => bob.peer.sentUnder.includes(2))
  await until('they have each other’s', () => alice.peer.receivedUnder.includes(2))
  expect([alice.peer.receivedUnder, bob.peer.receivedUnder]).toEqual([
    [1, 2],
    [1, 2, 3],
  ])
})

test('calls are of one client, once', async () => {
  const client = await SottoClient.open({ relayUrl: world.relay.url, store: new MemoryStore() })
  const open = () => {
    throw new Error('never called')
  }
  const calls = new Calls(client, open)
  expect(() => new Calls(client, open)).toThrow('this client has calls already')
  await expect(calls.call('somebody')).rejects.toMatchObject({ code: 'NO_IDENTITY' })
  calls.close()
  await client.create({ nickname: 'one' })
  await expect(calls.call('somebody')).rejects.toMatchObject({ code: 'CLOSED' })
  new Calls(client, open).close()
  await client.close()
})
