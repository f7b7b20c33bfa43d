// Calls that come before the application has made its `Calls`, because it loads them later.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Calls } from '../src/calls/calls.ts'
import { briefPauses } from './brief-pauses.ts'
import { Caller, TestPeer } from './call-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

/** Alice calls Bob, who has no `Calls` yet. `later` is how far his clock has gone meanwhile. */
async function calledEarly(): Promise<{ alice: Caller; bob: Person; later: { ms: number } }> {
  const later = { ms: 0 }
  const clock = { ...briefPauses.clock, now: () => briefPauses.clock.now() + later.ms }
  const alice = await Caller.join(world, 'alice')
  const bob = await world.join('bob', { clock })
  await alice.person.befriend(bob)
  await alice.calls.call(bob.alias)
  // Bob's client handles frames in their order.
  await alice.person.client.send(bob.alias, 'I am calling you')
  await bob.receives('I am calling you')
  return { alice, bob, later }
}

function callsOf(person: Person): Calls {
  return new Calls(person.client, (options) => new TestPeer(options, async () => {}))
}

test('a call that came before is announced, rings, and is answered', async () => {
  const { alice, bob } = await calledEarly()
  expect(bob.heard.call_waiting).toEqual([{ callId: alice.calls.current?.id ?? '' }])
  const calls = callsOf(bob)
  await until('the call rings', () => calls.state === 'ringing')
  await calls.accept()
  await alice.is('connecting')
})

test('a call that was given up meanwhile is logged as missed', async () => {
  const { alice, bob } = await calledEarly()
  alice.calls.hangUp()
  await alice.hasSent(2)
  await alice.person.client.send(bob.alias, 'Never mind')
  await bob.receives('Never mind')
  const logged = Promise.withResolvers<boolean>()
  bob.client.on('call_logged', ({ missed }) => logged.resolve(missed))
  callsOf(bob)
  expect(await logged.promise).toBe(true)
})

test('a call that nobody waits for any more does not ring', async () => {
  const { alice, bob, later } = await calledEarly()
  later.ms = 45_000
  const calls = callsOf(bob)
  const refused: string[] = []
  calls.onRefused(({ reason }) => refused.push(reason))
  alice.sendRaw({
    ...{ type: 'call_ice', to: bob.alias, call_id: 'x', from: alice.alias },
    ...{ crypto_v: 2, payload: 'AAAA' },
  })
  await until('the last signal was refused', () => refused.length > 0)
  expect(refused).toEqual(['DECRYPTION_FAILED'])
  expect(calls.state).toBe('idle')
})
