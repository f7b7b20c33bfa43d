// Channels and the shop's search, against a real relay.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Channels, MemoryStore, SottoClient, VanityShop } from '../src/client.ts'
import { until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()
const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id)

test('an owner creates and posts in a channel, and a subscriber finds and reads it', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const [hers, his] = [new Channels(alice.client), new Channels(bob.client)]
  const id = await hers.create({ name: 'Tea & more', description: 'All about oolong' })
  const found: readonly object[] = await his.search('oolong')
  expect(found).toEqual([
    { id, name: 'Tea & more', description: 'All about oolong', is_subscribed: false, for_sale: false },
  ])
  await his.subscribe(id)
  await his.subscribe(id)
  expect(await his.get(id)).toMatchObject({ role: 'subscriber', is_subscribed: true })
  expect(idsOf(await his.mine())).toEqual([id])

  const first = await hers.post(id, 'Water first.')
  const second = await hers.post(id, '{"steeped":3}', 'note')
  await until('bob gets both posts', () => bob.heard.channel_post.length === 2)
  const heard: readonly object[] = bob.heard.channel_post
  expect(heard).toMatchObject([
    {
      channelId: id,
      post: { id: first, type: 'text', content: 'Water first.', author_alias_id: alice.alias },
    },
    { channelId: id, post: { id: second, type: 'note', content: '{"steeped":3}' } },
  ])
  expect(idsOf(await his.posts(id))).toEqual([second, first])
  expect(idsOf(await his.posts(id, { limit: 1 }))).toEqual([second])
  expect(idsOf(await his.posts(id, { before: second }))).toEqual([first])

  await hers.deletePost(id, first)
  expect(idsOf(await his.posts(id))).toEqual([second])
  await his.unsubscribe(id)
  expect(await his.mine()).toEqual([])
  await hers.delete(id)
  expect(await failureOf(his.get(id))).toMatchObject({ code: 'REFUSED', refusal: 'NOT_FOUND' })
})

test('only its owner can change a channel, post in it, sell it or delete it', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const [hers, his] = [new Channels(alice.client), new Channels(bob.client)]
  const id = await hers.create({ name: 'Quiet corner', isPublic: false })
  expect(await his.search('quiet corner')).toEqual([])
  expect(await hers.edit(id, { name: 'Loud corner', isPublic: true })).toMatchObject({ name: 'Loud corner' })
  expect(idsOf(await his.search('loud'))).toEqual([id])
  await hers.listForSale(id, 120)
  expect(await his.get(id)).toMatchObject({ for_sale: true, sale_price: 120 })
  await hers.unlist(id)
  expect(await his.get(id)).not.toHaveProperty('sale_price')
  const refused = { code: 'REFUSED', refusal: 'NOT_CHANNEL_OWNER' }
  expect(await failureOf(his.edit(id, { name: 'Mine now' }))).toMatchObject(refused)
  expect(await failureOf(his.post(id, 'hello'))).toMatchObject(refused)
  expect(await failureOf(his.listForSale(id, 1))).toMatchObject(refused)
  expect(await failureOf(his.delete(id))).toMatchObject(refused)
})

test('an account cannot create more channels than its free quota', async () => {
  const channels = new Channels((await world.join('alice')).client)
  for (const name of ['one', 'two', 'three']) await channels.create({ name })
  expect(await failureOf(channels.create({ name: 'four' }))).toMatchObject({ refusal: 'QUOTA_EXCEEDED' })
})

test('the client refuses invalid arguments itself, without a request to the relay', async () => {
  const channels = new Channels((await world.join('alice')).client)
  const id = await channels.create({ name: 'Rules' })
  const broken = [
    () => channels.get('../me'),
    () => channels.create({ name: ' ' }),
    () => channels.post(id, ''),
    () => channels.post(id, 'x', 'No Such Type'),
    () => channels.posts(id, { limit: 0 }),
    () => channels.listForSale(id, 1.5),
  ]
  for (const call of broken) expect(await failureOf(call())).toMatchObject({ code: 'INVALID_ARGUMENT' })
  // An undefined field is the same as a missing one.
  const fields: object = { name: 'Rules', description: undefined }
  expect(await channels.edit(id, fields)).toMatchObject({ name: 'Rules', description: '' })
})

test('a module fails without an identity or after close, and the shop’s search needs no identity', async () => {
  const client = await SottoClient.open({ relayUrl: world.relay.url, store: new MemoryStore() })
  const [channels, shop] = [new Channels(client), new VanityShop(client)]
  expect(await failureOf(channels.mine())).toMatchObject({ code: 'NO_IDENTITY' })
  const featured = await shop.search()
  expect(featured.length).toBeGreaterThan(0)
  expect(featured.every((item) => item.is_featured)).toBe(true)
  const found = await shop.search('tea')
  expect(found.length).toBeGreaterThan(0)
  expect(found.every((item) => item.alias_id.startsWith('tea'))).toBe(true)
  await client.close()
  expect(await failureOf(shop.search())).toMatchObject({ code: 'CLOSED' })
  expect(await failureOf(channels.mine())).toMatchObject({ code: 'CLOSED' })
  const stranger = {
    identity: undefined,
    isLocked: false,
    networkState: 'disconnected' as const,
    syncIdentity: async () => ({ aliasId: 'x' }),
    send: () => Promise.reject(new Error('a foreign client must not be called')),
  }
  expect(await failureOf(new Channels(stranger).mine())).toMatchObject({ code: 'INVALID_ARGUMENT' })
})
