// Tabs that want the client themselves, as for the phrase: it changes hands, and what is under way is finished first.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../people.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(120_000)

const world = new BrowserWorld()

test('many tabs that want the client at once all get it', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  const third = await world.duplicate(alice)
  const tabs = [alice, second, third]
  const phrases = await Promise.all(tabs.map((tab) => tab.call<string>('recoveryPhrase')))
  expect(new Set(phrases).size).toBe(1)
  await Promise.all(tabs.map((tab, at) => tab.call('send', b, `tab ${at}`)))
  await until('bob hears all', async () => (await bob.heardTexts()).length === tabs.length)
  expect((await bob.heardTexts()).toSorted()).toEqual(['tab 0', 'tab 1', 'tab 2'])
  const open = () => tabs.map(({ sockets }) => sockets.open).toSorted()
  // The browser tells of those that were closed when it comes to it.
  await until('one connection is left', () => Bun.deepEquals(open(), [0, 0, 1]))
})

test('a tab that needs the client gets it past those that only wait in line', async () => {
  const { alice, second } = await world.twoTabs()
  const third = await world.duplicate(alice)
  await third.call('recoveryPhrase')
  await third.connected()
  for (const tab of [alice, second]) {
    await until('it hears who has it', async () => (await tab.heard('takeover')).length > 0)
    expect((await tab.heard('takeover')).length).toBe(1)
  }
  expect([alice, second, third].map(({ sockets }) => sockets.ever)).toEqual([1, 0, 1])
})

test('what is sent while the client changes hands arrives once and in order', async () => {
  const { alice, second, bob, b } = await world.twoTabs()
  const third = await world.duplicate(alice)
  const texts = Array.from({ length: 100 }, (_, at) => `message ${at}`)
  const sending = second.sendAll(b, texts)
  await third.call('recoveryPhrase')
  await alice.call('recoveryPhrase')
  await sending
  await bob.hears(texts.length, 40_000)
  expect(await bob.heardTexts()).toEqual(texts)
  expect(await second.call<number>('countUnsent')).toBe(0)
})

test('a tab that makes an identity keeps the client until that is done', async () => {
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
  // Its wish has been heard once an answer to something later has.
  expect(await second.call<number>('countUnsent')).toBe(0)
  mayGo.resolve()
  await created
  expect((await phrase).split(' ').length).toBe(12)
  expect(registrations).toBe(1)
})

test('of two identities made at once in a tab the first is made, and none once the tab is closed', async () => {
  const tab = await world.open(await world.newContext())
  const outcomes = await tab.page.evaluate(async () => {
    const { client } = globalThis.app
    const code = (error: { code: string }) => error.code
    const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    // The first has to make its words, which the second has.
    const made = [client.create({ nickname: 'first' }), client.create({ nickname: 'second', mnemonic })]
    const outcomes = await Promise.all(made.map((each) => each.then(({ nickname }) => nickname, code)))
    const late = client.create({ nickname: 'third', replace: true }).then(({ nickname }) => nickname, code)
    await client.close()
    return [...outcomes, await late]
  })
  expect(outcomes).toEqual(['first', 'IDENTITY_EXISTS', 'CLOSED'])
})

test('a tab that is asked for the client first finishes what could not be asked for again', async () => {
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
  // Its wish has been heard once an answer to something later has.
  expect(await third.call<number>('countUnsent')).toBe(0)
  mayGo.resolve()
  expect(await made).toStartWith('ch_')
  expect((await phrase).split(' ').length).toBe(12)
})
