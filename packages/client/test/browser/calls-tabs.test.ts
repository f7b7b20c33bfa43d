// Calls of a person with several tabs, which share one client: every tab rings, one has the call, the others
// know of it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../people.ts'
import { type Caller, CallsWorld } from './calls-world.ts'

setDefaultTimeout(240_000)

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
const callOf = (tab: Caller) => tab.page.evaluate(() => phone.calls.current?.id)

/** Accepts without media, so that the tab does not wait for its camera first. */
const acceptIn = ({ page }: Caller): Promise<string> =>
  page.evaluate(() =>
    phone.calls.accept().then(
      () => 'done',
      ({ code }) => code,
    ),
  )

/** Keeps a tab's messages with this text to other tabs until the returned function is called. */
async function holdMessages({ page }: Caller, text: string): Promise<() => Promise<void>> {
  const released = await page.evaluateHandle((held) => {
    const { postMessage } = BroadcastChannel.prototype
    const waiting: (() => void)[] = []
    BroadcastChannel.prototype.postMessage = function post(data): void {
      if (JSON.stringify(data).includes(held)) waiting.push(() => postMessage.call(this, data))
      else postMessage.call(this, data)
    }
    return () => {
      BroadcastChannel.prototype.postMessage = postMessage
      for (const post of waiting) post()
    }
  }, text)
  return () => released.evaluate((release) => release())
}

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

test('a tab that is opened while it rings rings too, and can accept; none rings for a call that is over', async () => {
  const { first, second, bob } = await people()
  await bob.call(first)
  await first.is('ringing')
  const third = await world.anotherTab(first)
  await third.is('ringing')
  expect(await third.accept()).toBe('done')
  await third.is('connected')
  await bob.is('connected')
  await third.seesAndHears()
  for (const tab of [first, second]) await tab.is('elsewhere connected')
  await bob.hangUp()
  await third.is('hangup: hung_up_by_peer')
  await bob.call(first, false)
  await second.is('ringing')
  await second.hangUp()
  await bob.is('rejected: declined')
  await bob.call(first, false)
  await second.is('ringing')
  await bob.hangUp()
  await second.is('hangup: hung_up_by_peer')
  const fourth = await world.anotherTab(first)
  await until('the fourth tab is connected', () => isConnected(fourth))
  expect(await fourth.call(bob, false)).toBe('done')
  await bob.is('ringing')
  expect(await fourth.states()).toEqual(['calling'])
  for (const tab of [first, second, third, fourth]) expect(await errorsOf(tab)).toEqual([])
})

test('of two tabs that accept at once one gets the call; a rejection in one tab ends the ringing in all', async () => {
  const { first, second, bob } = await people()
  await bob.call(first)
  await first.is('ringing')
  await second.is('ringing')
  const outcomes = await Promise.all([acceptIn(first), acceptIn(second)])
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

test('a tab that accepts a call too late does not keep it: another tab takes the next one', async () => {
  const { first, second, bob } = await people()
  await bob.call(first, false)
  await first.is('ringing')
  await second.is('ringing')
  const replaced = await callOf(first)
  let release = await holdMessages(second, '"calls.report"')
  let late = acceptIn(second)
  // Bob hangs up and calls again, and his hangup is lost.
  await bob.page.evaluate(() => {
    const { send } = WebSocket.prototype
    WebSocket.prototype.send = function pass(data) {
      if (String(data).includes('call_hangup')) WebSocket.prototype.send = send
      else send.call(this, data)
    }
  })
  await bob.hangUp()
  await bob.call(first, false)
  for (const tab of [first, second])
    await until('the second call rings', async () => (await callOf(tab)) !== replaced)
  await release()
  expect(await late).toBe('INVALID_ARGUMENT')
  release = await holdMessages(second, '"calls.report"')
  late = acceptIn(second)
  // The first tab rejects it while the second tab accepts it.
  await first.hangUp()
  await bob.is('rejected: declined')
  await second.is('elsewhere rejected')
  await release()
  expect(await late).toBe('INVALID_ARGUMENT')
  await bob.call(first, false)
  await first.is('ringing')
  expect(await first.accept(false)).toBe('done')
  await bob.is('connected')
  await second.is('elsewhere connected')
  for (const tab of [first, second]) expect(await errorsOf(tab)).toEqual([])
})

test('a tab that rejects a call after another tab has accepted it does not end it, and shows it', async () => {
  const { first, second, bob } = await people()
  await bob.call(first, false)
  await first.is('ringing')
  await second.is('ringing')
  const release = await holdMessages(first, '"calls.reported"')
  expect(await acceptIn(first)).toBe('done')
  await second.hangUp()
  await bob.is('connected')
  await release()
  await second.is('elsewhere connect')
  await bob.hangUp()
  for (const tab of [first, second])
    await until('the call is logged', async () => (await loggedBy(tab)).length > 0)
  expect([await loggedBy(first), await loggedBy(second)]).toEqual([['hung_up_by_peer'], ['hung_up_by_peer']])
  await second.is('elsewhere hangup')
  for (const tab of [first, second]) expect(await errorsOf(tab)).toEqual([])
})

test('of two calls that two people begin at once, one goes on in all tabs, and the other is lost to none', async () => {
  const pair = await world.pair({ isShared: true })
  const isSorted = (await pair[0].alias()) < (await pair[1].alias())
  const [goesOn, gives] = isSorted ? pair : [pair[1], pair[0]]
  const second = await world.anotherTab(gives)
  // Neither offer is sent before both have called.
  const [begun, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  for (const { page } of pair)
    await page.context().route('**/calls/ice-config*', async (route) => {
      asked += 1
      if (asked === 2) begun.resolve()
      await sent.promise
      await route.continue()
    })
  const calling = Promise.all([goesOn.call(gives, false), second.call(goesOn, false)])
  await begun.promise
  const release = await holdMessages(second, '"state":"connecting"')
  sent.resolve()
  expect(await calling).toEqual(['done', 'done'])
  // This person's offer takes precedence. The tab with the other call answers it before it can report that.
  for (const tab of [goesOn, second]) await tab.is('connected')
  await release()
  await gives.is('elsewhere connected')
  expect(await callOf(gives)).toBe(await callOf(goesOn))
  expect(await gives.states()).toEqual(['elsewhere calling', 'elsewhere connecting', 'elsewhere connected'])
  await goesOn.hangUp()
  await until('the call is logged', async () => (await loggedBy(second)).length > 0)
  expect(await loggedBy(second)).toEqual(['hung_up_by_peer'])
  for (const tab of [...pair, second]) expect(await errorsOf(tab)).toEqual([])
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
