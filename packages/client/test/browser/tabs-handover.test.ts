// Some calls, such as the one for the phrase, must run in the calling tab. That tab becomes the leader, after
// the old leader has finished its running calls.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../people.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

test('if several tabs must become the leader at the same time, each of them does', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  const third = await world.duplicate(alice)
  const tabs = [alice, second, third]
  const phrases = await Promise.all(tabs.map((tab) => tab.call<string>('recoveryPhrase')))
  expect(new Set(phrases).size).toBe(1)
  await Promise.all(tabs.map((tab, at) => tab.call('send', b, `tab ${at}`)))
  await until('bob hears all tabs', async () => (await bob.heardTexts()).length === tabs.length)
  expect((await bob.heardTexts()).toSorted()).toEqual(['tab 0', 'tab 1', 'tab 2'])
  const open = () => tabs.map(({ sockets }) => sockets.open).toSorted()
  // The browser reports closed connections with a delay.
  await until('one connection is left', () => Bun.deepEquals(open(), [0, 0, 1]))
})

test('a tab that must become the leader gets the lock before tabs that only wait for it', async () => {
  const { alice, second } = await world.twoTabs()
  const third = await world.duplicate(alice)
  await third.call('recoveryPhrase')
  await third.connected()
  for (const tab of [alice, second]) {
    await until('the tab learns of the new leader', async () => (await tab.heard('takeover')).length > 0)
    expect((await tab.heard('takeover')).length).toBe(1)
  }
  expect([alice, second, third].map(({ sockets }) => sockets.ever)).toEqual([1, 0, 1])
})

test('messages sent while the leader changes arrive once and in order', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  const third = await world.duplicate(alice)
  const texts = Array.from({ length: 100 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await third.call('recoveryPhrase')
  await alice.call('recoveryPhrase')
  await sending
  await bob.hears(texts.length)
  expect(await bob.heardTexts()).toEqual(texts)
  // Many acknowledgements may still be on their way.
  await until('all are acknowledged', async () => (await second.call<number>('countUnsent')) === 0)
})

test('a tab that creates an identity stays the leader until the identity exists', async () => {
  const context = await world.newContext()
  const [first, second] = [await world.open(context), await world.open(context)]
  const asked = Promise.withResolvers<void>()
  const mayGo = Promise.withResolvers<void>()
  let registrations = 0
  await first.page.route('**/api/v1/register', async (route) => {
    registrations += 1
    asked.resolve()
    await mayGo.promise
    await route.continue()
  })
  const created = first.call('create', { nickname: 'alice' })
  await asked.promise
  const phrase = second.call<string>('recoveryPhrase')
  // The answer to this later call shows that the request to become the leader has arrived.
  expect(await second.call<number>('countUnsent')).toBe(0)
  mayGo.resolve()
  await created
  expect((await phrase).split(' ').length).toBe(12)
  expect(registrations).toBe(1)
})

test('of two identities requested at once in a tab only the first is created, and none after close', async () => {
  const tab = await world.open(await world.newContext())
  const outcomes = await tab.page.evaluate(async () => {
    const { client } = globalThis.app
    const code = (error: { code: string }) => error.code
    const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    // The first call must still generate its words. The second call has its words already.
    const made = [client.create({ nickname: 'first' }), client.create({ nickname: 'second', mnemonic })]
    const outcomes = await Promise.all(made.map((each) => each.then(({ nickname }) => nickname, code)))
    const late = client.create({ nickname: 'third', replace: true }).then(({ nickname }) => nickname, code)
    await client.close()
    return [...outcomes, await late]
  })
  expect(outcomes).toEqual(['first', 'IDENTITY_EXISTS', 'CLOSED'])
})

test('before it stops being the leader, a tab finishes the calls that cannot be repeated', async () => {
  const { alice, second } = await world.twoTabs()
  const third = await world.duplicate(alice)
  const asked = Promise.withResolvers<void>()
  const mayGo = Promise.withResolvers<void>()
  await alice.page.route('**/api/v1/channels', async (route) => {
    asked.resolve()
    await mayGo.promise
    await route.continue()
  })
  const made = second.call<string>('channels.create', { name: 'Only one' })
  await asked.promise
  const phrase = third.call<string>('recoveryPhrase')
  // The answer to this later call shows that the request to become the leader has arrived.
  expect(await third.call<number>('countUnsent')).toBe(0)
  mayGo.resolve()
  expect(await made).toStartWith('ch_')
  expect((await phrase).split(' ').length).toBe(12)
})
