// Keys of calls whose epochs end where nobody expects it: none is begun twice, and both sides have each other's.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Caller, callers, connect, settled } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(90_000)
const world = new PeopleWorld()

/** Each side was given each epoch once, in order, and ends with the one the other sends under. */
function expectKeysInOrder(alice: Caller, bob: Caller): void {
  for (const { peer } of [alice, bob])
    for (const given of [peer.sentUnder, peer.receivedUnder])
      expect(given).toEqual([...new Set(given)].toSorted((a, b) => a - b))
  expect(alice.peer.receivedUnder.at(-1)).toBe(bob.peer.sentUnder.at(-1))
  expect(bob.peer.receivedUnder.at(-1)).toBe(alice.peer.sentUnder.at(-1))
}

/** Waits until an epoch that was asked for has begun, and whatever else would have; each side has the other's keys then. */
async function pastTheNotice(alice: Caller, bob: Caller): Promise<void> {
  await Bun.sleep(1200)
  const sides = [
    [alice, bob],
    [bob, alice],
  ] as const
  for (const [from, to] of sides)
    await until(`${to.person.name} has the latest keys`, () =>
      Object.is(from.peer.sentUnder.at(-1), to.peer.receivedUnder.at(-1)),
    )
}

test('a caller that begins another epoch and asks for one while it rings has no key used twice', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.peer.options.onEpochOver(true)
  await alice.hasSaid(2)
  await settled(alice, bob)
  // Within the second after which the epoch that was asked for begins.
  await bob.calls.accept()
  await until('the answer is taken', () => alice.peer.receivedUnder.length > 0)
  await pastTheNotice(alice, bob)
  expectKeysInOrder(alice, bob)
})

test('a friend that asks for another epoch while it rings has no key used twice', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const callId = alice.calls.current?.id ?? ''
  const asked = { epoch: 1, audio: true, video: true, renew: true }
  // Answered at once: within the second after which the epoch that was asked for begins.
  await alice.say('call_ice', bob, callId, asked)
  await settled(alice, bob)
  await bob.calls.accept()
  await until('bob is in the epoch asked for', () => bob.peer.sentUnder.includes(2))
  await Bun.sleep(1200)
  expect(bob.peer.sentUnder).toEqual([2])
})

test('an offer that is given up for theirs, and an epoch told before the answer, confuse nobody', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  const accepted = bob.calls.accept()
  await until('bob has media', () => bob.peers.length === 1)
  bob.peer.options.onEpochOver(true)
  await accepted
  await until('the answer is taken', () => alice.peer.receivedUnder.length > 0)
  await bob.hasSaid(2)
  await settled(bob, alice)
  await pastTheNotice(alice, bob)
  expect(alice.states).toEqual(['calling', 'connecting'])
  expectKeysInOrder(alice, bob)
})

test('keys lost while there is no relay to say so are renewed once there is, whatever else is to be said', async () => {
  const [alice, bob] = await callers(world)
  await connect(alice, bob)
  await alice.loseConnection()
  alice.peer.options.onEpochOver(true)
  await alice.calls.setTrack('audio', null)
  await until('bob begins another epoch', () => bob.peer.sentUnder.includes(2))
  await until('alice has it', () => alice.peer.receivedUnder.includes(2))
  expectKeysInOrder(alice, bob)
  // It was asked for once: she has what she needs.
  const said = alice.signals.length
  await alice.calls.setTrack('audio', null)
  await alice.hasSaid(said + 1)
  await settled(alice, bob)
  await Bun.sleep(1200)
  expect(bob.peer.sentUnder).toEqual([1, 2])
})

test('keys lost before anything was received need no renewal', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  alice.peer.options.onEpochOver(true)
  await bob.is('ringing')
  await alice.hasSaid(2)
  await settled(alice, bob)
  await bob.calls.accept()
  await until('the answer is taken', () => alice.peer.receivedUnder.length > 0)
  await Bun.sleep(1200)
  expect([alice.peer.sentUnder, bob.peer.sentUnder]).toEqual([[1, 2], [1]])
  expectKeysInOrder(alice, bob)
})
