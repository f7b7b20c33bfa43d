// A call that gets a new network path after the old one broke (an ICE restart): who offers it, who requests
// it, and what an attacker can do with it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Caller, callers, connect, settled } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

/** The minimum time between two restart offers. */
const PAUSE_MS = 2000

function untilRestarts(caller: Caller, restarts: readonly string[]): Promise<unknown> {
  return until(`${caller.person.name}’s restarts are [${restarts}], not [${caller.peer.restarts}]`, () =>
    Bun.deepEquals(caller.peer.restarts, restarts),
  )
}

test('media interrupted on both sides get a new path, and the caller offers it once', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_interrupted')
  expect([alice.calls.state, bob.calls.state]).toEqual(['connecting', 'connecting'])
  await untilRestarts(bob, ['sdp of offer 1'])
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 1'))
  alice.peer.findCandidate('a new way')
  await until('bob has the candidate', () => bob.peer.candidates.includes('a new way'))
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
  expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
  await settled(bob, alice)
  await untilRestarts(alice, ['offer'])
  // The keys stay in use, because no media frame was lost.
  for (const { peer } of [alice, bob]) expect([peer.sentUnder, peer.receivedUnder]).toEqual([[1], [1]])
})

test('a callee whose media are interrupted asks the caller for a restart', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  bob.peer.options.onMedia('media_interrupted')
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 1'))
  expect(alice.calls.state).toBe('connected')
  // Bob's next signal does not ask for another restart.
  alice.endWait(PAUSE_MS)
  const sent = bob.signals.length
  await bob.calls.setTrack('audio', null)
  await bob.hasSent(sent + 1)
  await settled(bob, alice)
  expect(alice.peer.restarts).toEqual(['offer'])
})

test('a restart waits for the relay connection, and candidates of the old path are not sent', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  await alice.loseConnection()
  alice.peer.options.onMedia('media_interrupted')
  alice.peer.findCandidate('a candidate of the old path')
  expect(alice.peer.restarts).toEqual([])
  await untilRestarts(bob, ['sdp of offer 1'])
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 1'))
  await settled(alice, bob)
  expect(bob.peer.candidates).toEqual([])
})

test('after a lost answer the caller offers another restart, and ignores answers to the first offer', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  bob.line.isDead = true
  alice.peer.options.onMedia('media_interrupted')
  await untilRestarts(bob, ['sdp of offer 1'])
  await bob.hasLost(1)
  alice.endWait(PAUSE_MS)
  bob.line.isDead = false
  // The media are still interrupted.
  alice.peer.options.onMedia('media_interrupted')
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 2'))
  await bob.sendSignal('call_ice', alice, bob.info.id, { sdp: 'late', epoch: 1, restart: 1 })
  await bob.sendSignal('call_ice', alice, bob.info.id, { sdp: 'twice', epoch: 1, restart: 2 })
  await settled(bob, alice)
  expect(alice.peer.descriptions).toEqual(['sdp of an answer', 'sdp of answer 2'])
})

test('a call whose media stay interrupted ends after the time limit', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.options.onMedia('media_interrupted')
  alice.peer.options.onMedia('media_interrupted')
  alice.endWait(30_000)
  expect(alice.states.at(-1)).toBe('ended: connection_lost')
  await bob.is('hangup: hung_up_by_peer')
})

test('restart offers from the callee, invalid restarts, and restarts before the call is connected have no effect', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const { id } = alice.info
  const offer = { sdp: 'evil', sdp_type: 'offer', epoch: 1, restart: 1 }
  await alice.sendSignal('call_ice', bob, id, offer)
  await bob.sendSignal('call_ice', alice, id, { epoch: 1, reoffer: true })
  await bob.sendSignal('call_ice', alice, id, { ...offer, sdp_type: 'answer' })
  await settled(bob, alice)
  await settled(alice, bob)
  expect([alice.peer.restarts, alice.peer.descriptions]).toEqual([[], []])
  await bob.calls.accept()
  await until('alice has the answer', () => alice.peer.descriptions.length === 1)
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')

  const odd = [0, -1, 1.5, '1', null, {}, 2 ** 60].map((restart) => ({ ...offer, restart }))
  for (const fields of [
    ...odd,
    { ...offer, sdp: '' },
    { ...offer, sdp: 7 },
    { ...offer, sdp_type: 'rollback' },
    { ...offer, epoch: 0 },
  ])
    await alice.sendSignal('call_ice', bob, id, fields)
  for (const fields of [offer, { ...offer, sdp_type: 'answer' }, { epoch: 1, reoffer: 1 }])
    await bob.sendSignal('call_ice', alice, id, fields)
  await settled(alice, bob)
  await settled(bob, alice)
  expect([alice.peer.restarts, bob.peer.restarts]).toEqual([[], []])
  expect(alice.peer.descriptions).toEqual(['sdp of an answer'])
  expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
})

test('a callee that asks for restarts without end gets one offer at a time', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  for (let n = 0; n < 30; n += 1)
    await bob.sendSignal('call_ice', alice, bob.info.id, { epoch: 1, audio: true, reoffer: true })
  await settled(bob, alice)
  await until('alice has the answer', () => alice.peer.descriptions.length === 2)
  expect(alice.peer.restarts).toEqual(['offer'])
})
