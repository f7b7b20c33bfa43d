// A module's part runs in the tab that runs the client, whichever tab calls it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../people.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

const load = (tab: AppTab) => tab.page.evaluate(() => globalThis.app.countWords())

test('every tab calls the part next to the store, and every tab gets its events', async () => {
  const { alice, second, b } = await world.twoTabs()
  for (const tab of [alice, second]) await load(tab)
  await alice.call('send', b, 'one two three')
  expect(await second.call('words.count', b)).toEqual({ contact: b, words: 3 })
  expect(await alice.call('words.count', b)).toEqual({ contact: b, words: 3 })
  // One part has counted for both.
  expect(await second.call('words.calls')).toBe(2)
  for (const tab of [alice, second]) {
    await until('the events arrive', async () => (await tab.heard('words.counted')).length === 2)
    expect(await tab.heard('takeover')).toEqual([])
  }
  expect(await failureOf(second.call('words.count', 'nobody'))).toMatchObject({ code: 'UNKNOWN_CONTACT' })
  expect(await failureOf(second.call('words.count', 7))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  await alice.page.close()
  expect(await second.call('words.count', b)).toEqual({ contact: b, words: 3 })
  expect(await second.call('words.calls')).toBe(1)
  expect((await second.heard('words.counted')).length).toBe(3)
})

test('a tab takes over the client if the tab that runs it has not loaded the module', async () => {
  const { alice, second, b } = await world.twoTabs()
  await load(second)
  expect(await second.call('words.count', b)).toEqual({ contact: b, words: 0 })
  await second.connected()
  expect([alice, second].map(({ sockets }) => sockets.ever)).toEqual([1, 1])
  // A tab without the module ignores its events.
  expect(await alice.heard('error')).toEqual([])
  await load(alice)
  await alice.call('words.count', b)
  expect(await second.call('words.calls')).toBe(2)
  expect(second.sockets.open).toBe(1)
})

const loadsModules = (tab: AppTab, how: Parameters<typeof app.loadsModules>[0]) =>
  tab.page.evaluate((how) => globalThis.app.loadsModules(how), how)

test('a tab that loads its modules by need loads what another tab calls, and stays unlocked', async () => {
  const { alice, b } = await world.friends({ isSealed: true })
  await alice.call('setPassphrase', 'a passphrase of the tests')
  const second = await world.duplicate(alice)
  await loadsModules(alice, 'well')
  await load(second)
  const both = [second.call('words.count', b), second.call('words.calls')]
  expect(await Promise.all(both)).toEqual([{ contact: b, words: 0 }, expect.any(Number)])
  expect(await alice.call('words.count', b)).toEqual({ contact: b, words: 0 })
  expect(await second.call('words.calls')).toBe(2)
  for (const tab of [alice, second]) {
    await until('the events arrive', async () => (await tab.heard('words.counted')).length === 2)
    expect([await tab.heard('takeover'), await tab.heard('lock_state')]).toEqual([[], []])
  }
  expect([alice, second].map(({ sockets }) => sockets.ever)).toEqual([1, 0])
})

test('a tab that cannot load a module says why, and the tab that calls it takes over the client', async () => {
  const { alice, second, b } = await world.twoTabs()
  await loadsModules(alice, 'not')
  await load(second)
  expect(await second.call('words.count', b)).toEqual({ contact: b, words: 0 })
  expect(await alice.heard('error')).toEqual([{ code: 'HANDLER_FAILED' }])
  expect(await alice.heard('words.wanted')).toHaveLength(1)
  await second.connected()
  expect([alice, second].map(({ sockets }) => sockets.ever)).toEqual([1, 1])
})

test('a call outlives the tab that was loading the module for it', async () => {
  const { alice, second, b } = await world.twoTabs()
  await loadsModules(alice, 'never')
  await load(second)
  const counted = second.call('words.count', b)
  await until('the tab loads the module', async () => (await alice.heard('words.wanted')).length === 1)
  await alice.page.close()
  expect(await counted).toEqual({ contact: b, words: 0 })
})
