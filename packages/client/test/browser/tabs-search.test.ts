// Search through a client that several tabs share: it runs in the tab that runs the client.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import type { SearchPage, StoredMessage } from '../../src/client.ts'
import { until } from '../people.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

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

test('nothing of a retracted message stays in what a search keeps in memory', async () => {
  const { alice, b } = await world.twoTabs()
  await alice.page.evaluate(() => globalThis.app.loadSearch())
  const { id } = await alice.call<StoredMessage>('send', b, 'Recipe: SECRET Ingredient')
  // The application's own records have the text as it was sent. Only the search has this form.
  const searched = 'recipe secret ingredient'
  await until('the search has it', async () => {
    // Each change of the message's status makes the search forget it, until it is searched again.
    expect((await alice.call<SearchPage>('search.find', 'secret')).results.length).toBe(1)
    return isInMemory(alice, searched)
  })
  await alice.call('retract', b, id)
  await until('the search has forgotten it', async () => !(await isInMemory(alice, searched)))
})

/** Whether a string with this text is in the memory of a tab's page. */
async function isInMemory({ page }: AppTab, text: string): Promise<boolean> {
  const devTools = await page.context().newCDPSession(page)
  const chunks: string[] = []
  devTools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk))
  await devTools.send('HeapProfiler.takeHeapSnapshot')
  await devTools.detach()
  return chunks.join('').includes(text)
}
