// The keys of a call when an epoch ends unexpectedly: no epoch starts twice, and each side has the keys that
// the other side sends under.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Caller, callers, connect, settled } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

/**
 * Expects that each side's media got each epoch once, in order, and receive in the epoch the other side sends
 * in.
 */
function expectKeysInOrder(alice: Caller, bob: Caller): void {
  for (const { peer } of [alice, bob])
    for (const given of [peer.sentUnder, peer.receivedUnder])
      expect(given).toEqual([...new Set(given)].toSorted((a, b) => a - b))
  expect(alice.peer.receivedUnder.at(-1)).toBe(bob.peer.sentUnder.at(-1))
  expect(bob.peer.receivedUnder.at(-1)).toBe(alice.peer.sentUnder.at(-1))
}

/** The time from the announcement of an epoch to its start. */
const NOTICE_MS = 1000

/** Starts every announced epoch, and waits until the other side has its keys. */
async function startAnnouncedEpochs(alice: Caller, bob: Caller): Promise<void> {
  await settled(alice, bob)
  await settled(bob, alice)
  for (const caller of [alice, bob]) if (caller.waitsFor(NOTICE_MS)) caller.endWait(NOTICE_MS)
  const sides = [
    [alice, bob],
    [bob, alice],
  ] as const
  for (const [from, to] of sides)
    await until(`${to.person.name} has the latest keys`, () =>
      Object.is(from.peer.sentUnder.at(-1), to.peer.receivedUnder.at(-1)),
    )
}

test('a caller that begins another epoch while the call rings uses no key twice', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.peer.options.onEpochOver(true)
  await alice.hasSent(2)
  await settled(alice, bob)
  // Alice has received no media yet, so Bob's keys stay usable and Bob announces no epoch.
  expect(bob.waitsFor(NOTICE_MS)).toBe(false)
  await bob.calls.accept()
  await until('alice has processed the answer', () => alice.peer.receivedUnder.length > 0)
  await startAnnouncedEpochs(alice, bob)
  expectKeysInOrder(alice, bob)
})

test('a callee that is asked for another epoch while it rings uses no key twice', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const callId = alice.calls.current?.id ?? ''
  const request = { epoch: 1, audio: true, video: true, renew: true }
  await alice.sendSignal('call_ice', bob, callId, request)
  await settled(alice, bob)
  // Bob has announced the requested epoch, and it has not started yet.
  expect(bob.waitsFor(NOTICE_MS)).toBe(true)
  await bob.calls.accept()
  await until('bob sends in the requested epoch', () => bob.peer.sentUnder.includes(2))
  await startAnnouncedEpochs(alice, bob)
  expect(bob.peer.sentUnder).toEqual([2])
})

test('an epoch that the callee announces before its answer does not break the call', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const accepted = bob.calls.accept()
  await until('bob has media', () => bob.peers.length === 1)
  bob.peer.options.onEpochOver(true)
  await accepted
  await until('alice has processed the answer', () => alice.peer.receivedUnder.length > 0)
  await bob.hasSent(2)
  await settled(bob, alice)
  await startAnnouncedEpochs(alice, bob)
  expect(alice.states).toEqual(['calling', 'connecting'])
  expectKeysInOrder(alice, bob)
})

test('a client whose keys become unusable while it is disconnected asks for new ones once it reconnects', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  await alice.loseConnection()
  alice.peer.options.onEpochOver(true)
  // Another signal that waits for the connection.
  await alice.calls.setTrack('audio', null)
  await until('bob announces another epoch', () => bob.waitsFor(NOTICE_MS))
  bob.endWait(NOTICE_MS)
  await until('bob starts it', () => bob.peer.sentUnder.includes(2))
  await until('alice has its keys', () => alice.peer.receivedUnder.includes(2))
  expectKeysInOrder(alice, bob)
  // Alice does not ask again, because she has the keys.
  const sent = alice.signals.length
  await alice.calls.setTrack('audio', null)
  await alice.hasSent(sent + 1)
  await settled(alice, bob)
  expect(bob.waitsFor(NOTICE_MS)).toBe(false)
  expect(bob.peer.sentUnder).toEqual([1, 2])
})

test('a caller whose keys become unusable before it has received media asks for no new ones', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  alice.peer.options.onEpochOver(true)
  await bob.is('ringing')
  await alice.hasSent(2)
  await settled(alice, bob)
  await bob.calls.accept()
  await until('alice has processed the answer', () => alice.peer.receivedUnder.length > 0)
  await startAnnouncedEpochs(alice, bob)
  expect([alice.peer.sentUnder, bob.peer.sentUnder]).toEqual([[1, 2], [1]])
  expectKeysInOrder(alice, bob)
})
