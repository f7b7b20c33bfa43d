// Calls of a person with several tabs, which share one client: every tab rings, one has the call, the others
// know of it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../people.ts'
import { type Caller, CallsWorld } from './calls-world.ts'

setDefaultTimeout(90_000)

const world = new CallsWorld()

/** Alice, whose client runs in the first of her two tabs, and Bob. */
async function people(): Promise<{ first: Caller; second: Caller; bob: Caller }> {
  const [first, bob] = await world.pair({ isShared: true }, {})
  const second = await world.anotherTab(first)
  await until('the second tab is connected', () => isConnected(second))
  return { first, second, bob }
}

const isConnected = (tab: Caller) => tab.page.evaluate(() => phone.client.networkState === 'connected')
const loggedBy = (tab: Caller) => tab.page.evaluate(() => phone.logged)
const errorsOf = (tab: Caller) => tab.page.evaluate(() => phone.errors)

test('a call rings in every tab; the tab that accepts has it, and every tab can end it', async () => {
  const { first, second, bob } = await people()
  expect(await bob.call(first)).toBe('done')
  await first.is('ringing')
  await second.is('ringing')
  // The client runs in the first tab; the keys and the signals of the second tab's call cross.
  expect(await second.accept()).toBe('done')
  await second.is('connected')
  await bob.is('connected')
  await first.is('elsewhere connected')
  expect((await second.seesAndHears()).own.length).toBeGreaterThan(0)
  await bob.seesAndHears()
  expect(await first.page.evaluate(() => phone.connections.length)).toBe(0)
  // A tab that is opened now learns of the call, and cannot begin another.
  const third = await world.anotherTab(first)
  await third.is('elsewhere connected')
  expect(await third.call(bob)).toBe('INVALID_ARGUMENT')
  await third.hangUp()
  await second.is('hangup: hung_up')
  await bob.is('hangup: hung_up_by_peer')
  for (const tab of [first, third]) await tab.is('elsewhere hangup: hung_up')
  expect(await first.states()).toEqual([
    'ringing',
    'elsewhere connecting',
    'elsewhere connected',
    'elsewhere hangup: hung_up',
  ])
  for (const tab of [first, second, third]) {
    await until('the call is logged', async () => (await loggedBy(tab)).length > 0)
    expect(await loggedBy(tab)).toEqual(['hung_up'])
    expect(await errorsOf(tab)).toEqual([])
  }
})

test('of two tabs that accept at once one gets the call; a rejection in one tab ends the ringing in all', async () => {
  const { first, second, bob } = await people()
  await bob.call(first)
  await first.is('ringing')
  await second.is('ringing')
  // Without media, so that neither tab waits for its camera first.
  const accept = ({ page }: Caller): Promise<string> =>
    page.evaluate(() =>
      phone.calls.accept().then(
        () => 'done',
        ({ code }) => code,
      ),
    )
  const outcomes = await Promise.all([accept(first), accept(second)])
  expect(outcomes.toSorted()).toEqual(['INVALID_ARGUMENT', 'done'])
  const [has, knows] = outcomes[0] === 'done' ? [first, second] : [second, first]
  await has.is('connected')
  await knows.is('elsewhere connected')
  await bob.hangUp()
  await has.is('hangup: hung_up_by_peer')
  await knows.is('elsewhere hangup: hung_up_by_peer')
  await bob.call(first)
  await first.is('ringing')
  await second.is('ringing')
  await first.hangUp()
  await second.is('elsewhere rejected: declined')
  await bob.is('rejected: declined')
  await bob.call(first)
  await first.is('ringing')
  await second.is('ringing')
  await bob.hangUp()
  // Both tabs report that nobody answered, and it is logged once.
  for (const tab of [first, second]) {
    await tab.is('hangup: hung_up_by_peer')
    await until('three calls are logged', async () => (await loggedBy(tab)).length === 3)
    expect(await loggedBy(tab)).toEqual(['hung_up_by_peer', 'declined', 'hung_up_by_peer'])
  }
})

test('a call goes on when another tab takes over the client, and ends when its own tab is closed', async () => {
  const { first, second, bob } = await people()
  expect(await second.call(bob)).toBe('done')
  await bob.is('ringing')
  await bob.accept()
  await second.is('connected')
  await first.is('elsewhere connected')
  const third = await world.anotherTab(first)
  await third.is('elsewhere connected')
  // The client runs in the first tab, so its end makes another tab take over.
  await first.page.close()
  await until('the client is connected again', () => isConnected(second))
  await second.seesAndHearsMore()
  await bob.seesAndHearsMore()
  expect((await second.states()).at(-1)).toBe('connected')
  expect(await third.call(bob)).toBe('INVALID_ARGUMENT')
  // This tab may run the client or not: the tab that is left ends the call for it.
  await second.page.close()
  await bob.is('hangup: hung_up_by_peer')
  await third.is('elsewhere')
  await until('the call is over', async () => (await third.states()).at(-1)?.includes('ended'))
  await until('the call is logged', async () => (await loggedBy(third)).length > 0)
  expect(await loggedBy(third)).toEqual(['connection_lost'])
  await until('the last tab is connected', () => isConnected(third))
  expect(await third.call(bob)).toBe('done')
  await bob.is('ringing')
  expect(await errorsOf(third)).toEqual([])
})

test('locking the client in one tab ends the call of another, and tells the friend', async () => {
  const { first, second, bob } = await people()
  expect(await second.call(bob)).toBe('done')
  await bob.is('ringing')
  await bob.accept()
  await second.is('connected')
  await first.page.evaluate(() => phone.client.lock())
  await second.is('ended: stopped')
  await first.is('elsewhere ended: stopped')
  await bob.is('hangup: hung_up_by_peer')
  for (const tab of [first, second]) expect(await errorsOf(tab)).toEqual([])
  await second.page.evaluate(async () => {
    await phone.client.unlock()
    await phone.client.connect()
  })
  await until('the client is connected again', () => isConnected(second))
  expect(await second.call(bob)).toBe('done')
  await second.page.evaluate(() => phone.client.close())
  await bob.is('hangup: hung_up_by_peer')
  // The first tab takes over the client, and connects.
  await until('the first tab can call', async () => (await first.call(bob)) === 'done')
})

test('closed calls hear of no other tab, and tell a tab that takes over nothing', async () => {
  const { first, second, bob } = await people()
  const third = await world.anotherTab(first)
  expect(await third.call(bob, false)).toBe('done')
  await bob.is('ringing')
  await second.is('elsewhere calling')
  await second.page.evaluate(() => phone.renewCalls())
  await bob.accept(false)
  await second.is('elsewhere connected')
  await third.hangUp()
  await second.is('elsewhere hangup: hung_up')
  // The second or the third tab takes over. No tab has a call.
  await first.page.close()
  await until('the second tab can call', async () => (await second.call(bob, false)) === 'done')
  await bob.is('ringing')
  expect(await second.states()).toEqual([
    'elsewhere calling',
    'elsewhere connecting',
    'elsewhere connected',
    'elsewhere hangup: hung_up',
    'calling',
  ])
  expect(await errorsOf(second)).toEqual([])
})
