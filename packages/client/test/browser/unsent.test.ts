// Failed messages and logging out, from a tab that does not run the client.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import type { FriendProfile, StoredMessage } from '../../src/client.ts'
import { until } from '../people.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()

test('any tab sends a failed message again, drops it, and logs the device out', async () => {
  const { alice, bob, second, b } = await world.twoTabs()
  const [friend] = await bob.call<FriendProfile[]>('friends')
  await bob.call('removeFriend', friend?.friendship_id)
  const conversationId = await second
    .call<{ conversationId: string }>('conversation', b)
    .then((conversation) => conversation.conversationId)
  const messages = (): Promise<StoredMessage[]> => second.call('messages', conversationId)
  await second.call('send', conversationId, 'hello', { id: 'first' })
  const failed = (): Promise<unknown> =>
    until('it failed', async () => (await messages()).at(-1)?.status === 'failed')
  await failed()
  const again = await second.call<StoredMessage>('unsent.resend', conversationId, 'first')
  await failed()
  expect((await messages()).map(({ id }) => id)).toEqual([again.id])
  await second.call('unsent.drop', conversationId, again.id)
  expect(await messages()).toEqual([])
  expect(await failureOf(second.call('unsent.resend', conversationId, again.id))).toMatchObject({
    code: 'UNKNOWN_MESSAGE',
  })
  await second.call('logOut', { erase: true })
  for (const tab of [alice, second])
    await until('the tab has no identity', () => tab.page.evaluate(() => app.client.identity === undefined))
})
