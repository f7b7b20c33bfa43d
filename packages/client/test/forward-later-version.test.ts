// A user goes back to an older version of the program, which cannot read the keys of a conversation.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ByteReader, ByteWriter } from '@sotto/crypto/version-3'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Calls } from '../src/calls/calls.ts'
import { MemoryStore, SecrecyChoices } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import type { SecretKind } from '../src/stores/secret-states.ts'
import { TestPeer } from './call-people.ts'
import { untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { openStates } from './stores/secret-states-world.ts'

setDefaultTimeout(240_000)

const LATER = 250

const world = new PeopleWorld()

/** What a closed store has of a state; with `state`, that is written in its place. */
async function stateIn(store: MemoryStore, kind: SecretKind, id?: string, state?: Uint8Array) {
  store.reopen()
  const states = await openStates(store)
  const [name = ''] = id === undefined ? await states.list(kind) : [id]
  const before = await states.get(kind, name)
  if (state) await states.write([{ kind, id: name, state }])
  await states.close()
  await store.close()
  if (!(before instanceof Uint8Array)) throw new Error(`there is no state of the ${kind}`)
  return before
}

/** The same state as a later version would begin it. */
function laterThan(state: Uint8Array): Uint8Array {
  const version = new ByteReader(state).number()
  const length = new ByteWriter().number(version).done().length
  return Uint8Array.of(...new ByteWriter().number(LATER).done(), ...state.subarray(length))
}

async function starts(name: string, store: MemoryStore): Promise<Person> {
  store.reopen()
  const person = await world.open(name, { forwardSecrecy: forwardSecrecy(), store })
  await person.connect()
  return person
}

const tellsOf = (person: Person): string[] => person.heard.secrecy.map(({ notice }) => notice.tell)

test('a conversation of a later version waits, which is told once, and goes on under that version', async () => {
  const store = new MemoryStore()
  const [alice, carol, before] = [
    await world.join('alice', { forwardSecrecy: forwardSecrecy() }),
    await world.join('carol', { forwardSecrecy: forwardSecrecy() }),
    await world.join('bob', { forwardSecrecy: forwardSecrecy(), store }),
  ]
  const conversation = await alice.befriend(before)
  await carol.befriend(before)
  await untilVersion3(alice, before)
  await untilVersion3(carol, before)
  await before.client.close()
  const known = await stateIn(store, 'conversation', conversation)
  const later = laterThan(known)
  await stateIn(store, 'conversation', conversation, later)

  const waiting = [
    await alice.client.send(before.alias, 'first of alice'),
    await alice.client.send(before.alias, 'second of alice'),
  ]
  const older = await starts('bob', store)
  await until('it is told', () => tellsOf(older).includes('later_version'))
  const { id } = await older.client.send(alice.alias, 'waits at bob')
  expect(await new SecrecyChoices(older.client).stopOf(alice.alias)).toBeUndefined()
  expect(await failureOf(new SecrecyChoices(older.client).useThisDevice(alice.alias))).toMatchObject({
    code: 'LATER_VERSION',
  })
  const calls = new Calls(older.client, (options) => new TestPeer(options, async () => {}))
  expect(await failureOf(calls.call(alice.alias))).toMatchObject({ code: 'LATER_VERSION' })
  await carol.client.send(older.alias, 'from carol')
  expect(await older.receives('from carol')).toMatchObject({ version: 3 })
  await older.client.send(carol.alias, 'to carol')
  expect(await carol.receives('to carol')).toMatchObject({ version: 3 })
  expect([tellsOf(older), older.heard.error]).toEqual([['later_version'], []])
  expect(older.heard.message.map(({ text }) => text)).toEqual(['from carol'])
  await older.client.close()
  expect(await stateIn(store, 'conversation', conversation)).toEqual(later)

  await stateIn(store, 'conversation', conversation, known)
  const newer = await starts('bob', store)
  await newer.receives('second of alice')
  expect(newer.heard.message.map(({ text }) => text)).toEqual(['first of alice', 'second of alice'])
  for (const each of waiting) await alice.sees(newer.alias, each.id, 'delivered')
  expect(await alice.receives('waits at bob')).toMatchObject({ id, version: 3 })
})

test('the keys of a device are left to the later version that wrote them', async () => {
  const store = new MemoryStore()
  const [alice, before] = [
    await world.join('alice', { forwardSecrecy: forwardSecrecy() }),
    await world.join('bob', { forwardSecrecy: forwardSecrecy(), store }),
  ]
  await alice.befriend(before)
  await untilVersion3(alice, before)
  await before.client.close()
  const leaf = await stateIn(store, 'leaf')
  const later = laterThan(leaf)
  await stateIn(store, 'leaf', undefined, later)

  await alice.client.send(before.alias, 'waits')
  const older = await starts('bob', store)
  await until('it is told', () => older.heard.error.length > 0)
  expect(older.heard.error[0]).toMatchObject({ code: 'LATER_VERSION' })
  expect(older.heard.error[0]?.message).toContain('later version')
  await older.client.close()
  expect(await stateIn(store, 'leaf')).toEqual(later)

  await stateIn(store, 'leaf', undefined, leaf)
  expect(await (await starts('bob', store)).receives('waits')).toMatchObject({ version: 3 })
})
