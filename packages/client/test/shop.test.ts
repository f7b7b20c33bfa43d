// What is bought, from the order to what one has of it: aliases, channels and seats. The operator says what is paid.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { tellRelay } from '@sotto/relay'
import { Channels, type FetchLike, MemoryStore, VanityShop } from '../src/client.ts'
import { friendOf, makePeer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(60_000)
const world = new PeopleWorld({ MANUAL_PAY_TO: 'the till' })

/** Has the operator say that an order is paid. */
async function pay(orderId: string): Promise<void> {
  const why = { order_id: orderId, who: 'operator', why: 'the till says so' }
  await tellRelay({ DATA_DIR: world.relay.dataDir }, 'orders.confirm', why)
}

/** Waits until the relay has told a person that an order is paid. */
async function hears(person: Person, orderId: string): Promise<string> {
  const event = await until('the payment is confirmed', () =>
    person.heard.payment_confirmed.find(({ order_id }) => order_id === orderId),
  )
  return event.ref_id
}

async function paid(person: Person, orderId: string): Promise<string> {
  await pay(orderId)
  return hears(person, orderId)
}

/** An alias nobody has. */
async function freeAlias(shop: VanityShop, prefix: string): Promise<string> {
  const [item] = await shop.search(prefix)
  if (!item) throw new Error(`nothing begins with ${prefix}`)
  return item.alias_id
}

test('an alias is found, ordered, paid, bound, and is who one is from then on', async () => {
  const store = new MemoryStore()
  const [alice, bob, conversationId] = await world.friends({ store })
  await bob.client.markVerified(alice.alias)
  const shop = new VanityShop(alice.client)
  const before = alice.alias
  const wanted = await freeAlias(shop, 'oolong')

  const order = await shop.purchase(wanted)
  expect(order.alias_id).toBe(wanted as never)
  expect(order.order_id).toStartWith('ord_')
  expect(await shop.purchase(wanted)).toEqual(order)
  expect(await shop.orderStatus(order.order_id)).toEqual({ status: 'pending', alias_id: wanted as never })
  await expect(shop.bind(order.order_id)).rejects.toMatchObject({ refusal: 'ORDER_NOT_CONFIRMED' })
  await expect(new VanityShop(bob.client).purchase(wanted)).rejects.toMatchObject({ refusal: 'ALIAS_TAKEN' })
  expect(await paid(alice, order.order_id)).toBe(wanted)
  expect(await shop.orders()).toMatchObject([{ kind: 'vanity', status: 'confirmed', is_bound: false }])

  expect(alice.alias).toBe(before)
  const heard = alice.heard.identity_changed.length
  expect(await shop.bind(order.order_id)).toBe(wanted)
  expect(alice.alias).toBe(wanted)
  expect(alice.heard.identity_changed.slice(heard)).toMatchObject([{ identity: { aliasId: wanted } }])
  expect((await store.getIdentity())?.aliasId).toBe(wanted as never)
  expect(await shop.orders()).toMatchObject([{ is_bound: true }])
  // Asked again, as by whoever heard no answer: the same, and nothing to tell.
  expect(await shop.bind(order.order_id)).toBe(wanted)
  expect(alice.heard.identity_changed.length).toBe(heard + 1)

  // The session goes on: nobody was disconnected, and both names lead to the one conversation.
  expect(alice.client.networkState).toBe('connected')
  await bob.client.send(before, 'to the alias before')
  expect(await alice.receives('to the alias before')).toMatchObject({ conversationId })
  await alice.client.send(bob.alias, 'from the new one')
  expect(await bob.receives('from the new one')).toMatchObject({ conversationId })
  await until('bob sees who it is', async () => (await bob.client.conversation(before)).contactId === wanted)
  expect(await bob.client.conversation(wanted)).toMatchObject({ conversationId, isVerified: true })
  await bob.client.send(wanted, 'to the new one')
  expect(await alice.receives('to the new one')).toMatchObject({ conversationId })
  expect([...alice.heard.security_violation, ...bob.heard.security_violation]).toEqual([])
  expect((await bob.client.lookUpUser(wanted)).nickname).toBe('alice')

  await alice.client.close()
  store.reopen()
  const again = await world.open('alice', { store })
  expect(again.alias).toBe(wanted)
  expect(await again.client.restore()).toEqual({ aliasId: wanted, nickname: 'alice' })
  expect(again.heard.identity_changed).toEqual([])
})

test('an alias bound on one device is the other’s too, once it asks', async () => {
  const [phone, laptop] = [await world.join('alice'), await world.open('alice')]
  const mnemonic = phone.client.identity?.mnemonic ?? ''
  await laptop.client.recover({ mnemonic })
  const shop = new VanityShop(phone.client)
  const { order_id } = await shop.purchase(await freeAlias(shop, 'laptop'))
  await paid(phone, order_id)
  const alias = await shop.bind(order_id)
  expect(laptop.alias).not.toBe(alias)
  expect(await laptop.client.restore()).toEqual({ aliasId: alias, nickname: 'alice' })
  expect(laptop.alias).toBe(alias)
  expect(laptop.heard.identity_changed.at(-1)).toMatchObject({ identity: { aliasId: alias } })
})

test('a bind whose answer got lost is bound, and asked again by itself', async () => {
  let lost = 0
  const loseFirst: FetchLike = async (url, init) => {
    const response = await fetch(url, init)
    if (!url.endsWith('/vanity/bind') || lost > 0) return response
    lost += 1
    throw new TypeError('connection lost')
  }
  const alice = await world.join('alice', { fetch: loseFirst })
  const shop = new VanityShop(alice.client)
  const { order_id, alias_id } = await shop.purchase(await freeAlias(shop, 'lost'))
  await paid(alice, order_id)
  expect(await shop.bind(order_id)).toBe(alias_id)
  expect([lost, alice.alias]).toEqual([1, alias_id])
})

test('a payment confirmed while one is away is told on coming back', async () => {
  const alice = await world.join('alice')
  const shop = new VanityShop(alice.client)
  const { order_id } = await shop.purchase(await freeAlias(shop, 'away'))
  alice.client.disconnect()
  await pay(order_id)
  expect((await shop.orderStatus(order_id)).status).toBe('confirmed')
  expect(alice.heard.payment_confirmed).toEqual([])
  await alice.connect()
  await hears(alice, order_id)
})

test('a channel that is for sale changes hands', async () => {
  const [seller, buyer, late] = [
    await world.join('seller'),
    await world.join('buyer'),
    await world.join('late'),
  ]
  const [sellers, buyers] = [new Channels(seller.client), new Channels(buyer.client)]
  const id = await sellers.create({ name: 'Going, going' })
  await sellers.post(id, 'from its first owner')
  await expect(buyers.buy(id)).rejects.toMatchObject({ refusal: 'NOT_FOUND' })
  await sellers.listForSale(id, 40)
  await expect(sellers.buy(id)).rejects.toMatchObject({ refusal: 'OWN_CHANNEL' })
  const order = await buyers.buy(id)
  expect(order).toMatchObject({ price_usdt: 40 })
  expect(await buyers.buy(id)).toEqual(order)
  await expect(new Channels(late.client).buy(id)).rejects.toMatchObject({ refusal: 'CHANNEL_TAKEN' })
  expect(await paid(buyer, order.order_id)).toBe(id)
  expect(await buyers.get(id)).toMatchObject({ role: 'owner', for_sale: false })
  expect(await buyers.post(id, 'from its second')).toStartWith('p_')
  await expect(sellers.post(id, 'no more')).rejects.toMatchObject({ refusal: 'NOT_CHANNEL_OWNER' })
  expect(await new VanityShop(buyer.client).orders()).toMatchObject([
    { kind: 'channel', ref_id: id as never },
  ])
})

test('a seat that was paid for makes room for one more channel, and each order is one of its own', async () => {
  const alice = await world.join('alice')
  const channels = new Channels(alice.client)
  for (const name of ['one', 'two', 'three']) await channels.create({ name })
  await expect(channels.create({ name: 'four' })).rejects.toMatchObject({ refusal: 'QUOTA_EXCEEDED' })
  const [first, second] = [await channels.buyQuota(), await channels.buyQuota()]
  expect(first).toMatchObject({ price_usdt: 5 })
  expect(second.order_id).not.toBe(first.order_id)
  expect(await paid(alice, first.order_id)).toBe('channel_quota')
  await paid(alice, second.order_id)
  await channels.create({ name: 'four' })
  await channels.create({ name: 'five' })
  await expect(channels.create({ name: 'six' })).rejects.toMatchObject({ refusal: 'QUOTA_EXCEEDED' })
})

test('a relay that names another account as one’s own changes nothing here', async () => {
  const hostile = new HostileWorld()
  const [bob, mallory] = [makePeer('bob'), makePeer('mallory')]
  const alice = await hostile.victim([bob])
  const before = await alice.store.getIdentity()
  const me = {
    uuid: hostile.relay.uuid,
    alias_id: 'somebody_else',
    nickname: 'somebody',
    ed25519_public_key: before?.signingPublicKey,
    x25519_public_key: before?.ecdhPublicKey,
    created_at: '2026-01-01T00:00:00.000Z',
  }
  hostile.relay.answers['POST /vanity/bind'] = () => ({ body: { alias_id: 'somebody_else' } })
  const shop = new VanityShop(alice.client)
  const orderId = `ord_${'x'.repeat(22)}`
  for (const lie of [
    { uuid: crypto.randomUUID() },
    { ed25519_public_key: mallory.ed25519 },
    { x25519_public_key: friendOf(mallory).x25519_public_key },
  ]) {
    hostile.relay.answers['GET /me'] = () => ({ body: { ...me, ...lie } })
    await expect(shop.bind(orderId)).rejects.toMatchObject({ code: 'BAD_REPLY' })
    await expect(alice.client.restore()).rejects.toMatchObject({ code: 'BAD_REPLY' })
  }
  expect(await alice.store.getIdentity()).toEqual(before)
  // An alias is the relay's to give: this one is believed.
  hostile.relay.answers['GET /me'] = () => ({ body: me })
  expect(await shop.bind(orderId)).toBe('somebody_else')
  await hostile.stop()
})
