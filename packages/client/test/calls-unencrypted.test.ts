// Calls with clients that do not encrypt their media: their signals name no epoch of keys.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { callers, connect, settled } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

const offer = { sdp: 'sdp of an older client', sdp_type: 'offer' }

test('an answer without an epoch ends the call with its own reason, and no media are sent', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.sendSignal('call_answer', alice, alice.info.id, { sdp: 'sdp of an answer', sdp_type: 'answer' })
  await alice.is('ended: unencrypted')
  expect(alice.states).toEqual(['calling', 'ended: unencrypted'])
  // The media got no description of the other side, without which nothing can be sent.
  expect([alice.peer.descriptions, alice.peer.isClosed]).toEqual([[], true])
  await bob.is('hangup: hung_up_by_peer')
  expect(alice.person.heard.error).toEqual([])
  // Both can call each other again.
  await connect(bob, alice)
})

test('an offer without an epoch does not ring: the application learns who called and why it ended', async () => {
  const [alice, bob] = await callers(world)
  for (const id of ['first', 'second']) {
    await alice.sendSignal('call_offer', bob, id, offer)
    await until('the call has ended', () => bob.calls.current?.id === id)
    expect(bob.info).toMatchObject({ id, isCaller: false, state: 'ended', end: 'unencrypted' })
  }
  const { conversationId } = await bob.person.client.conversation(alice.alias)
  expect(bob.info.conversationId).toBe(conversationId)
  expect([bob.states, bob.peers]).toEqual([['ended: unencrypted'], []])
  await bob.hasSent(2)
  expect(bob.signals.map(({ type, call_id }) => [type, call_id])).toEqual([
    ['call_reject', 'first'],
    ['call_reject', 'second'],
  ])
  // A repeated offer is not answered again.
  await alice.sendSignal('call_offer', bob, 'second', offer)
  await settled(alice, bob)
  expect(bob.signals).toHaveLength(2)
})

test('during a call, an offer without an epoch is refused as busy and changes nothing', async () => {
  const [alice, bob] = await callers(world)
  const [first, second] = alice.alias < bob.alias ? [alice, bob] : [bob, alice]
  // The offer of the lesser alias takes precedence, unless it is not encrypted.
  await second.calls.call(first.alias)
  await first.is('ringing')
  await first.sendSignal('call_offer', second, 'unencrypted', offer)
  await second.hasSent(2)
  expect(second.signals.map(({ type, call_id }) => [type, call_id])).toEqual([
    ['call_offer', second.info.id],
    ['call_reject', 'unencrypted'],
  ])
  expect(second.states).toEqual(['calling'])
  await first.calls.accept()
  await second.is('connecting')
})

test('during a call, neither a status nor a restart counts without an epoch', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  const { id } = alice.info
  const restart = { sdp_type: 'offer', restart: 1 }
  await alice.sendSignal('call_ice', bob, id, { audio: true, video: true })
  await alice.sendSignal('call_ice', bob, id, { ...restart, sdp: 'without an epoch' })
  await settled(alice, bob)
  expect(bob.info.theirMedia).toEqual({ audio: false, video: false })
  await alice.sendSignal('call_ice', bob, id, { ...restart, sdp: 'with an epoch', epoch: 1 })
  await until('the restart is answered', () => bob.peer.restarts.length > 0)
  expect(bob.peer.restarts).toEqual(['with an epoch'])
})
