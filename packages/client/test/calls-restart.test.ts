// Another way for a call's media when the one there was breaks: who offers it, who asks for it, and what a liar gets of it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Caller, callers, connect, settled } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(90_000)
const world = new PeopleWorld()

/** After which the next may be offered. */
const PAUSE_MS = 2000

function has(caller: Caller, restarts: readonly string[]): Promise<unknown> {
  return until(`${caller.person.name} has ${restarts}, not ${caller.peer.restarts}`, () =>
    Bun.deepEquals(caller.peer.restarts, restarts),
  )
}

test('media that break off on both sides find another way, offered once', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_interrupted')
  expect([alice.calls.state, bob.calls.state]).toEqual(['connecting', 'connecting'])
  await has(bob, ['sdp of offer 1'])
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 1'))
  alice.peer.find('a new way')
  await until('bob has it', () => bob.peer.candidates.includes('a new way'))
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
  expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
  await settled(bob, alice)
  await has(alice, ['offer'])
  // Keys go on as they were: nothing was lost.
  for (const { peer } of [alice, bob]) expect([peer.sentUnder, peer.receivedUnder]).toEqual([[1], [1]])
})

test('the callee alone sees them break off, and asks', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  bob.peer.options.onMedia('media_interrupted')
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 1'))
  expect(alice.calls.state).toBe('connected')
  // What she says next does not ask for another.
  alice.endWait(PAUSE_MS)
  const said = bob.signals.length
  await bob.calls.setTrack('audio', null)
  await bob.hasSaid(said + 1)
  await settled(bob, alice)
  expect(alice.peer.restarts).toEqual(['offer'])
})

test('without the relay it is put off until there is one, and candidates of the way before are not said again', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  await alice.loseConnection()
  alice.peer.options.onMedia('media_interrupted')
  alice.peer.find('a way of before')
  expect(alice.peer.restarts).toEqual([])
  await has(bob, ['sdp of offer 1'])
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 1'))
  await settled(alice, bob)
  expect(bob.peer.candidates).toEqual([])
})

test('an answer that is lost has another offered, and an answer to the one before counts no more', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  bob.line.isDead = true
  alice.peer.options.onMedia('media_interrupted')
  await has(bob, ['sdp of offer 1'])
  await bob.hasLost(1)
  alice.endWait(PAUSE_MS)
  bob.line.isDead = false
  // Still broken.
  alice.peer.options.onMedia('media_interrupted')
  await until('alice has the answer', () => alice.peer.descriptions.includes('sdp of answer 2'))
  await bob.say('call_ice', alice, bob.info.id, { sdp: 'late', sdp_type: 'answer', restart: 1 })
  await bob.say('call_ice', alice, bob.info.id, { sdp: 'twice', sdp_type: 'answer', restart: 2 })
  await settled(bob, alice)
  expect(alice.peer.descriptions).toEqual(['sdp of an answer', 'sdp of answer 2'])
})

test('a way that works no more and has no other ends the call in time', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  alice.peer.options.onMedia('media_interrupted')
  alice.peer.options.onMedia('media_interrupted')
  alice.endWait(30_000)
  expect(alice.states.at(-1)).toBe('ended: no_media')
  await bob.is('hangup: hung_up_by_peer')
})

test('who may not offer is not listened to, nor who asks or answers before there is a call', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const { id } = alice.info
  const offer = { sdp: 'evil', sdp_type: 'offer', restart: 1 }
  await alice.say('call_ice', bob, id, offer)
  await bob.say('call_ice', alice, id, { epoch: 1, reoffer: true })
  await bob.say('call_ice', alice, id, { ...offer, sdp_type: 'answer' })
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
  ])
    await alice.say('call_ice', bob, id, fields)
  for (const fields of [offer, { ...offer, sdp_type: 'answer' }, { epoch: 1, reoffer: 1 }])
    await bob.say('call_ice', alice, id, fields)
  await settled(alice, bob)
  await settled(bob, alice)
  expect([alice.peer.restarts, bob.peer.restarts]).toEqual([[], []])
  expect(alice.peer.descriptions).toEqual(['sdp of an answer'])
  expect([alice.calls.state, bob.calls.state]).toEqual(['connected', 'connected'])
})

test('a callee that asks without end is offered one at a time', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  for (let n = 0; n < 30; n += 1)
    await bob.say('call_ice', alice, bob.info.id, { epoch: 1, audio: true, reoffer: true })
  await settled(bob, alice)
  await until('alice has the answer', () => alice.peer.descriptions.length === 2)
  expect(alice.peer.restarts).toEqual(['offer'])
})
