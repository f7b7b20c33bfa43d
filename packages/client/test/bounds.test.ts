// What a relay bounds, with real clients: they keep what it refuses for now, and send it again until there is
// room.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(60_000)

const world = new PeopleWorld({ LIMIT_MAILBOX_RETRACTIONS: '10' })

test('retractions that have no room yet are sent again, and all arrive', async () => {
  const [alice, bob] = await world.friends()
  const texts = ['one', 'two', 'three', 'four']
  for (const text of texts) {
    const { id } = await alice.client.send(bob.alias, text)
    await alice.sees(bob.alias, id, 'delivered')
  }
  bob.client.disconnect()
  for (const { id } of await alice.client.messages(bob.alias)) await alice.client.retract(bob.alias, id)
  const waiting = () => alice.store.listRetractIntents()
  // A fifth of the ten that wait for an account may be of one conversation.
  await until('the relay has taken two', async () => (await waiting()).length === 2)
  await bob.connect()
  await until('all retractions have arrived', () => bob.heard.retracted.length === texts.length)
  await until('the relay has acknowledged all', async () => (await waiting()).length === 0)
  expect(await bob.transcript(alice.alias)).toEqual(texts.map(() => 'them: (retracted)'))
})
