// Messages that the relay refuses: what the application learns of them, and what it can do with them.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(60_000)

const world = new PeopleWorld()

test('after NOT_FRIENDS the client fetches its friends, and the contact is none any more', async () => {
  const [alice, bob] = await world.friends()
  await bob.client.block(alice.alias)
  const sent = await alice.client.send(bob.alias, 'too late')
  expect(await alice.sees(bob.alias, sent.id, 'failed')).toMatchObject({ failure: 'NOT_FRIENDS' })
  await until('bob is no friend of alice any more', () => alice.client.friends().length === 0)
  expect(await alice.client.conversation(bob.alias)).toMatchObject({ isFriend: false })
})
