// The log of calls: every call that has ended is in it, with what became of it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { CallLog } from '../src/calls/calls.ts'
import { type CallRecord, keyVault, MemoryStore } from '../src/client.ts'
import { Caller, callers, connect } from './call-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

/** Waits for the call that a client logs next. */
function logged(caller: Caller, count = 1): Promise<CallRecord> {
  return until(`${caller.person.name} logs call ${count}`, () => caller.person.heard.call_logged[count - 1])
}

test('an answered call is logged on both sides, with its direction and how long it was connected', async () => {
  let now = Date.now()
  const [alice, bob] = [
    await Caller.join(world, 'alice', { now: () => now }),
    await Caller.join(world, 'bob'),
  ]
  const conversationId = await alice.person.befriend(bob.person)
  // Nobody believes a signal from long ago, and a busy machine may have needed long until here.
  now = Date.now()
  const startedAt = now
  await connect(alice, bob)
  now += 5000
  bob.calls.hangUp()
  await alice.is('hangup')
  const { id } = alice.info
  const mine = {
    id,
    conversationId,
    isCaller: true,
    startedAt,
    durationMs: 5000,
    end: 'hung_up_by_peer',
    missed: false,
  }
  expect(await logged(alice)).toEqual(mine)
  expect(await logged(bob)).toMatchObject({ id, isCaller: false, end: 'hung_up', missed: false })
  const log = new CallLog(alice.person.client)
  expect(await log.list()).toEqual([mine])
  await until('the log is announced', () =>
    alice.person.heard.changes
      .flat()
      .some((change) => change.kind === 'calls' && change.conversationId === conversationId),
  )
  await log.remove([id])
  expect(await log.list()).toEqual([])
})

test('a call that nobody accepts is missed, and one that was rejected is not', async () => {
  const [alice, bob] = await callers(world)
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.calls.hangUp()
  expect(await logged(bob)).toMatchObject({ isCaller: false, end: 'hung_up_by_peer', missed: true })
  expect(await logged(bob)).not.toHaveProperty('durationMs')
  expect(await logged(alice)).toMatchObject({ isCaller: true, end: 'hung_up', missed: false })
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  bob.calls.hangUp()
  expect(await logged(bob, 2)).toMatchObject({ end: 'declined', missed: false })
  expect(await logged(alice, 2)).toMatchObject({ end: 'declined', missed: false })
})

test('a call that comes during another one is missed', async () => {
  const [alice, bob] = await callers(world)
  const carol = await Caller.join(world, 'carol')
  const conversationId = await carol.person.befriend(bob.person)
  await connect(alice, bob)
  await carol.calls.call(bob.alias)
  const { id } = carol.info
  expect(await logged(bob)).toMatchObject({ id, conversationId, end: 'busy', missed: true })
  await carol.is('rejected')
  expect(await logged(carol)).toMatchObject({ id, end: 'busy', missed: false })
  expect(bob.calls.state).toBe('connected')
})

test('a call that locking or closing the client ends is in the log afterwards', async () => {
  const secrets = keyVault(new Uint8Array(32).fill(7))
  const [alice, bob] = [await Caller.join(world, 'alice', { secrets }), await Caller.join(world, 'bob')]
  await alice.person.befriend(bob.person)
  const { store, client } = alice.person
  await connect(alice, bob)
  await client.lock()
  expect(await store.listCalls()).toMatchObject([{ end: 'stopped', missed: false }])
  await bob.is('hangup')
  await client.unlock()
  await until('she is connected again', () => client.networkState === 'connected')
  await connect(alice, bob)
  await client.close()
  if (!(store instanceof MemoryStore)) throw new Error('this test needs a store that opens again')
  store.reopen()
  expect((await store.listCalls()).length).toBe(2)
})

test('a call with the id of a logged one leaves its record as it is', async () => {
  const [alice, bob] = await callers(world)
  const { conversationId } = await bob.person.client.conversation(alice.alias)
  const call = { id: 'again', conversationId, isCaller: true, startedAt: 1, end: 'hung_up', missed: false }
  await bob.person.store.write([{ change: 'call_logged', call }])
  await alice.sendSignal('call_offer', bob, call.id, { sdp: 'sdp of an older client', sdp_type: 'offer' })
  await bob.is('ended: unencrypted')
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  alice.calls.hangUp()
  const { id } = alice.info
  await until('the last call is logged', () => bob.person.heard.call_logged.some((each) => each.id === id))
  expect(bob.person.heard.call_logged.length).toBe(1)
  expect(await new CallLog(bob.person.client).list()).toMatchObject([{ id }, call])
})

test('the log keeps the latest 200 calls of each contact, and deleting the account removes it', async () => {
  const [alice, bob] = await callers(world)
  const { conversationId: withBob } = await alice.person.client.conversation(bob.alias)
  const old = (conversationId: string, count: number) =>
    Array.from({ length: count }, (_, startedAt) => ({
      ...{ id: `${conversationId} ${startedAt}`, conversationId, isCaller: false, startedAt },
      ...{ end: 'hung_up', missed: false },
    }))
  await alice.person.store.write(
    [...old(withBob, 200), ...old('with others', 2)].map((call) => ({ change: 'call_logged', call })),
  )
  await bob.calls.call(alice.alias)
  await alice.is('ringing')
  bob.calls.hangUp()
  await logged(alice)
  const calls = await new CallLog(alice.person.client).list()
  const idsOf = (id: string) => calls.filter((call) => call.conversationId === id).map((call) => call.id)
  const ofBob = idsOf(withBob)
  expect([ofBob.length, ofBob[0], ofBob.at(-1)]).toEqual([200, bob.info.id, `${withBob} 1`])
  expect(idsOf('with others')).toEqual(['with others 1', 'with others 0'])
  await alice.person.client.deleteAccount()
  expect(await alice.person.store.listCalls()).toEqual([])
})
