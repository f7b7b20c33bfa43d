// The event `changes`: everything that a view shows is announced when it is other than before.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { keyVault } from '../src/client.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

/** Waits until this kind of thing was announced, of this conversation. */
async function announced(person: Person, kind: string, conversationId?: string): Promise<void> {
  await until(`${person.name} is told that ${kind} changed`, () =>
    person.heard.changes
      .flat()
      .find((change) => change.kind === kind && change.conversationId === conversationId),
  )
  person.heard.changes.length = 0
}

test('messages, their status, reading and verifying are announced, each with its conversation', async () => {
  const [alice, bob, conversation] = await world.friends()
  for (const person of [alice, bob]) await announced(person, 'friends')
  const carol = await world.join('carol')
  const other = await alice.befriend(carol)
  alice.heard.changes.length = 0

  const { id } = await alice.client.send(bob.alias, 'hello')
  await announced(alice, 'messages', conversation)
  await bob.receives('hello')
  await announced(bob, 'messages', conversation)
  await alice.sees(bob.alias, id, 'delivered')
  await announced(alice, 'messages', conversation)
  await bob.client.markRead(alice.alias)
  await announced(bob, 'conversation', conversation)
  await alice.sees(bob.alias, id, 'read')
  await announced(alice, 'messages', conversation)
  await alice.client.markVerified(bob.alias)
  await announced(alice, 'conversation', conversation)
  await alice.client.retract(bob.alias, id)
  await until('it is retracted', () => bob.heard.retracted[0])
  await announced(bob, 'messages', conversation)
  expect(
    [...alice.heard.changes, ...bob.heard.changes].flat().map(({ conversationId }) => conversationId),
  ).not.toContain(other)
})

test('a handler of changes reads the new state, and each thing is named once', async () => {
  const [alice, bob, conversation] = await world.friends()
  const read: number[] = []
  bob.client.on('changes', async (changes) => {
    if (changes.some(({ kind }) => kind === 'messages'))
      read.push((await bob.client.messages(alice.alias)).length)
  })
  await Promise.all(Array.from({ length: 50 }, (_, at) => alice.client.send(bob.alias, `${at}`)))
  await until('the last one is read', () => read.includes(50))
  for (const changes of [...alice.heard.changes, ...bob.heard.changes])
    expect(
      changes.filter((change) => change.kind === 'messages' && change.conversationId === conversation).length,
    ).toBeLessThan(2)
})

test('locking, unlocking and another name are changes of everything', async () => {
  const alice = await world.join('alice', { secrets: keyVault(new Uint8Array(32).fill(7)) })
  for (const act of [
    () => alice.client.lock(),
    () => alice.client.unlock(),
    () => alice.client.setNickname('Ali'),
    () => alice.client.deleteAccount(),
  ]) {
    alice.heard.changes.length = 0
    await act()
    await announced(alice, 'everything')
  }
})
