// Small values of the application: stored with the identity, and deleted with it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { AppData, MemoryStore } from '../src/client.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const world = new PeopleWorld()

test('values are stored under their names, listed by the beginning of it, and replaced', async () => {
  const store = new MemoryStore()
  const alice = await world.join('alice', { store })
  const data = new AppData(alice.client)
  expect(await data.get('draft/1')).toBeUndefined()
  await data.set('draft/2', 'second')
  await data.set('draft/1', 'first')
  await data.set('drafts', 'of another kind')
  await data.set('draft/1', 'first, longer')
  await alice.client.close()
  store.reopen()

  const again = new AppData((await world.open('alice', { store })).client)
  expect(await again.get('draft/1')).toBe('first, longer')
  expect(await again.list('draft/')).toEqual([
    { name: 'draft/1', value: 'first, longer' },
    { name: 'draft/2', value: 'second' },
  ])
  await again.set('draft/1', undefined)
  expect((await again.list('')).map(({ name }) => name)).toEqual(['draft/2', 'drafts'])
})

test('what is too long is refused, and without an identity there are no values', async () => {
  const alice = await world.join('alice')
  const data = new AppData(alice.client)
  for (const [name, value] of [
    ['', 'nameless'],
    ['n'.repeat(257), 'a long name'],
    ['long', 'x'.repeat(1_048_577)],
  ] as const)
    expect(await failureOf(data.set(name, value))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await data.list('')).toEqual([])
  await data.set('gone', 'with the account')
  await alice.client.logOut({ erase: true })
  expect(await failureOf(data.list(''))).toMatchObject({ code: 'NO_IDENTITY' })
  expect(await alice.store.listAppData()).toEqual([])
})
