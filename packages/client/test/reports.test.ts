// Reports to the operator, against a real relay.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Channels, Reports } from '../src/client.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()

test('reports an account, a friend request, a channel and a post, and nothing that does not exist', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const [reports, channels] = [new Reports(alice.client), new Channels(bob.client)]
  const channel = await channels.create({ name: 'Tea' })
  const post = await channels.post(channel, 'Buy now')
  await reports.account(bob.alias, { reason: 'spam', content: 'Buy now' })
  await reports.friendRequest(bob.alias, { reason: 'spam' })
  await reports.channel(channel, { reason: 'spam' })
  await reports.post(channel, post, { reason: 'spam' })
  expect(await failureOf(reports.account('nobody_at_all', { reason: 'spam' }))).toMatchObject({
    refusal: 'NOT_FOUND',
  })
  expect(await failureOf(reports.channel('no channel', { reason: 'spam' }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
})
