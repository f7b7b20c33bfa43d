// The draft of an edit ends with its message.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Organizer } from '@sotto/client'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { Person, until } from '../../client/test/people.ts'
import { editDrafts, nameOf } from '../src/screens/conversation/edit-drafts.ts'

setDefaultTimeout(240_000)

let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay()
})
afterAll(() => relay.stop())

test('the draft of an edit is gone once its message was retracted, or deleted here', async () => {
  const [alice, bob] = [await Person.join('alice', relay.url), await Person.join('bob', relay.url)]
  try {
    await alice.befriend(bob)
    const drafts = editDrafts(alice.client)
    const begins = async (text: string) => {
      const message = await alice.client.send(bob.alias, text)
      await bob.receives(text)
      drafts.set(nameOf(message), { message, before: text, typed: `${text}, or later` })
      return message
    }
    const [retracted, removed, kept] = [
      await begins('at one'),
      await begins('at two'),
      await begins('at three'),
    ]
    await alice.client.retract(bob.alias, retracted.id)
    await until('the first is gone', () => !drafts.has(nameOf(retracted)))
    await new Organizer(alice.client).removeMessages([removed])
    await until('the second is gone', () => !drafts.has(nameOf(removed)))
    expect([...drafts.keys()]).toEqual([nameOf(kept)])
  } finally {
    for (const { client } of [alice, bob]) await client.close()
  }
})
