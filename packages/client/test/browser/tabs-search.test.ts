// Search through a client that several tabs share: it runs in the tab that runs the client.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import type { SearchPage, StoredMessage } from '../../src/client.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(60_000)

const world = new BrowserWorld()

test('every tab finds the messages, also after the tab that ran the client is gone', async () => {
  const { alice, bob, second, a, b } = await world.twoTabs()
  const textsOf = async (tab: AppTab, ...args: unknown[]): Promise<string[]> =>
    (await tab.call<SearchPage>('search.find', ...args)).results.map(({ text }) => text)
  await bob.call('send', a, 'an old bridge')
  await alice.hears(1)
  for (const tab of [alice, second]) await tab.page.evaluate(() => globalThis.app.loadSearch())
  const sent = await second.call<StoredMessage>('send', b, 'which bridge?')
  for (const tab of [alice, second]) {
    expect(await textsOf(tab, 'bridge')).toEqual(['which bridge?', 'an old bridge'])
    expect(await textsOf(tab, 'old', { contact: b })).toEqual(['an old bridge'])
  }
  const { next } = await second.call<SearchPage>('search.find', 'bridge', { limit: 1 })
  expect(await textsOf(second, 'bridge', { limit: 1, before: next })).toEqual(['an old bridge'])
  expect(await failureOf(second.call('search.find', 'old', { contact: 'nobody' }))).toMatchObject({
    code: 'UNKNOWN_CONTACT',
  })
  await alice.page.close()
  await second.call('retract', b, sent.id)
  expect(await textsOf(second, 'bridge')).toEqual(['an old bridge'])
})
