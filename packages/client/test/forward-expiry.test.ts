// What waited too long at the relay under version 3 has expired there, and its author is told.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Edits, Reactions } from '../src/client.ts'
import { forwardFriends } from './forward-people.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const MONTH_MS = 31 * 86_400_000

const world = new PeopleWorld()

test('an edit and a reaction that expired at the relay are told to their author, once each', async () => {
  const [alice, bob] = await forwardFriends(world)
  const own = await alice.client.send(bob.alias, 'first')
  await alice.sees(bob.alias, own.id, 'delivered')
  bob.client.disconnect()
  const edited = await new Edits(alice.client).edit(bob.alias, own.id, 'second')
  await new Reactions(alice.client).react(edited, '👍')
  const last = await alice.client.send(bob.alias, 'last')
  await alice.sees(bob.alias, last.id, 'sent')
  await world.relay.letPass(MONTH_MS)
  await world.relay.maintain({ toTheEnd: true })
  await alice.sees(bob.alias, last.id, 'failed')
  await until('Alice is told of both', () => alice.heard.error.length >= 2)
  const told = alice.heard.error.map(({ code, refusal }) => [code, refusal])
  expect(told).toEqual([
    ['REFUSED', 'EXPIRED'],
    ['REFUSED', 'EXPIRED'],
  ])
  expect((await alice.client.messages(bob.alias)).find(({ id }) => id === own.id)?.text).toBe('second')
})
