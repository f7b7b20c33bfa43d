// What the user decides in one tab is stored by the tab that runs the client, and shown in every tab.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import type { Change, Conversation, StoredMessage } from '../../src/client.ts'
import { until } from '../people.ts'
import type { AppTab } from './app-tab.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

/** Waits until a tab is told of a change after the first `from` events. */
async function told(tab: AppTab, kind: Change['kind'], from = 0): Promise<void> {
  await until(`the tab is told that ${kind} changed`, async () =>
    (await tab.heard<readonly Change[]>('changes'))
      .slice(from)
      .flat()
      .some((change) => change.kind === kind),
  )
}

test('every tab decides and deletes, and every tab is told and reads the same, also after a takeover', async () => {
  const { alice, second, b } = await world.twoTabs()
  await alice.call('send', b, 'one')
  await alice.call('send', b, 'two')
  const before = (await alice.heard('changes')).length
  await second.call('organizer.set', b, { name: 'Bobby', pinned: 1, draft: 'Dear' })
  for (const tab of [alice, second])
    expect(await tab.call('conversation', b)).toMatchObject({ name: 'Bobby', pinned: 1, draft: 'Dear' })
  await told(alice, 'conversation', before)
  expect(await failureOf(second.call('organizer.set', b, { pinned: 'first' }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })

  const [one] = await second.call<StoredMessage[]>('messages', b)
  await second.call('organizer.removeMessages', [one])
  await told(alice, 'messages', before)
  expect((await alice.call<StoredMessage[]>('messages', b)).map(({ text }) => text)).toEqual(['two'])
  expect(await second.call('callLog.list')).toEqual([])

  // Alice's first tab runs the client. The other one takes over, and finds everything stored.
  await alice.page.close()
  await until('the second tab has taken over', async () => (await second.heard('takeover')).length > 0)
  await told(second, 'everything')
  expect(await second.call<Conversation>('conversation', b)).toMatchObject({ name: 'Bobby', draft: 'Dear' })
  await second.call('organizer.set', b, { draft: undefined })
  expect(await second.call<Conversation>('conversation', b)).not.toHaveProperty('draft')
  await second.call('organizer.clear', b)
  expect(await second.call<StoredMessage[]>('messages', b)).toEqual([])
})
