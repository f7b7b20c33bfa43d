// Purchases from the order to the delivery: aliases, channels and channel quota. The operator marks orders as
// paid.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { Channels, type FetchLike, MemoryStore, VanityShop } from '../src/client.ts'
import { makePeer } from './hostile-relay.ts'
import { HostileWorld } from './hostile-world.ts'
import { confirmPayment, freeAlias, untilPaid } from './payments.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld({ MANUAL_PAY_TO: 'the till' })

async function payFor(person: Person, orderId: string): Promise<string> {
  await confirmPayment(world, orderId)
  return untilPaid(person, orderId)
}

test('an account finds, orders and pays for an alias, and has that alias once it is bound', async () => {
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
  expect(await failureOf(shop.bind(order.order_id))).toMatchObject({ refusal: 'ORDER_NOT_CONFIRMED' })
  expect(await failureOf(new VanityShop(bob.client).purchase(wanted))).toMatchObject({
    refusal: 'ALIAS_TAKEN',
  })
  expect(await payFor(alice, order.order_id)).toBe(wanted)
  expect(await shop.orders()).toMatchObject([{ kind: 'vanity', status: 'confirmed', is_bound: false }])

  expect(alice.alias).toBe(before)
  const changes = alice.heard.identity_changed.length
  expect(await shop.bind(order.order_id)).toBe(wanted)
  expect(alice.alias).toBe(wanted)
  expect(alice.heard.identity_changed.slice(changes)).toMatchObject([{ identity: { aliasId: wanted } }])
  expect((await store.getIdentity())?.aliasId).toBe(wanted as never)
  expect(await shop.orders()).toMatchObject([{ is_bound: true }])
  // Repeating the request, as after a lost answer, has the same result and causes no further event.
  expect(await shop.bind(order.order_id)).toBe(wanted)
  expect(alice.heard.identity_changed.length).toBe(changes + 1)

  // Alice stays connected, and both aliases lead to the same conversation.
  expect(alice.client.networkState).toBe('connected')
  await bob.client.send(before, 'to the alias before')
  expect(await alice.receives('to the alias before')).toMatchObject({ conversationId })
  await alice.client.send(bob.alias, 'from the new one')
  expect(await bob.receives('from the new one')).toMatchObject({ conversationId })
  await until(
    'bob’s client knows the new alias',
    async () => (await bob.client.conversation(before)).contactId === wanted,
  )
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

test('the way to pay for an order is chosen among those that the relay offers, until it is paid', async () => {
  const alice = await world.join('alice')
  const shop = new VanityShop(alice.client)
  const order = await shop.purchase(await freeAlias(shop, 'choice'))
  expect(order.methods).toEqual([{ method: 'manual', symbol: 'USDT', network: '' }])
  expect(await shop.chooseMethod(order.order_id, 'manual')).toEqual({
    ...{ order_id: order.order_id, price_usdt: order.price_usdt, pay_to: 'the till', method: 'manual' },
    ...{ methods: order.methods ?? [], expired_at: order.expired_at },
  })
  expect(await failureOf(shop.chooseMethod(order.order_id, 'evm:1/0x1'))).toMatchObject({
    refusal: 'NOT_FOUND',
  })
  await payFor(alice, order.order_id)
  expect(await failureOf(shop.chooseMethod(order.order_id, 'manual'))).toMatchObject({
    refusal: 'ORDER_CLOSED',
  })
})

test('an alias is reserved without an account, and bound by the account that has the order', async () => {
  const nobody = await world.open('nobody')
  const shop = new VanityShop(nobody.client)
  const wanted = await freeAlias(shop, 'before')
  const order = await shop.reserve(wanted)
  expect(order).toMatchObject({ alias_id: wanted, pay_to: 'the till' } as never)
  expect(await failureOf(shop.reserve(wanted))).toMatchObject({ refusal: 'ALIAS_TAKEN' })
  await confirmPayment(world, order.order_id)
  expect(await shop.orderStatus(order.order_id)).toMatchObject({ status: 'confirmed' })
  await nobody.client.create({ nickname: 'somebody' })
  expect(await shop.bind(order.order_id)).toBe(wanted)
  expect(nobody.alias).toBe(wanted)
})

test('another device of the account gets a bound alias with restore()', async () => {
  const [phone, laptop] = [await world.join('alice'), await world.open('alice')]
  const mnemonic = phone.client.identity?.mnemonic ?? ''
  await laptop.client.recover({ mnemonic })
  const shop = new VanityShop(phone.client)
  const { order_id } = await shop.purchase(await freeAlias(shop, 'laptop'))
  await payFor(phone, order_id)
  const alias = await shop.bind(order_id)
  expect(laptop.alias).not.toBe(alias)
  expect(await laptop.client.restore()).toEqual({ aliasId: alias, nickname: 'alice' })
  expect(laptop.alias).toBe(alias)
  expect(laptop.heard.identity_changed.at(-1)).toMatchObject({ identity: { aliasId: alias } })
})

test('the client repeats a bind whose answer was lost', async () => {
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
  await payFor(alice, order_id)
  expect(await shop.bind(order_id)).toBe(alias_id)
  expect([lost, alice.alias]).toEqual([1, alias_id])
})

test('a client that connects learns of a payment confirmed while it was disconnected', async () => {
  const alice = await world.join('alice')
  const shop = new VanityShop(alice.client)
  const { order_id } = await shop.purchase(await freeAlias(shop, 'away'))
  alice.client.disconnect()
  await confirmPayment(world, order_id)
  expect((await shop.orderStatus(order_id)).status).toBe('confirmed')
  expect(alice.heard.payment_confirmed).toEqual([])
  await alice.connect()
  await untilPaid(alice, order_id)
})

test('the buyer of a channel becomes its owner after paying', async () => {
  const [seller, buyer, late] = [
    await world.join('seller'),
    await world.join('buyer'),
    await world.join('late'),
  ]
  const [sellers, buyers] = [new Channels(seller.client), new Channels(buyer.client)]
  const id = await sellers.create({ name: 'Going, going' })
  await sellers.post(id, 'from its first owner')
  expect(await failureOf(buyers.buy(id))).toMatchObject({ refusal: 'NOT_FOUND' })
  await sellers.listForSale(id, 40)
  expect(await failureOf(sellers.buy(id))).toMatchObject({ refusal: 'OWN_CHANNEL' })
  const order = await buyers.buy(id)
  expect(order).toMatchObject({ price_usdt: 40 })
  expect(await buyers.buy(id)).toEqual(order)
  expect(await failureOf(new Channels(late.client).buy(id))).toMatchObject({ refusal: 'CHANNEL_TAKEN' })
  expect(await payFor(buyer, order.order_id)).toBe(id)
  expect(await buyers.get(id)).toMatchObject({ role: 'owner', for_sale: false })
  expect(await buyers.post(id, 'from its second')).toStartWith('p_')
  expect(await failureOf(sellers.post(id, 'no more'))).toMatchObject({ refusal: 'NOT_CHANNEL_OWNER' })
  expect(await new VanityShop(buyer.client).orders()).toMatchObject([
    { kind: 'channel', ref_id: id as never },
  ])
})

test('each paid quota order allows one more channel, and every order is separate', async () => {
  const alice = await world.join('alice')
  const channels = new Channels(alice.client)
  for (const name of ['one', 'two', 'three']) await channels.create({ name })
  expect(await failureOf(channels.create({ name: 'four' }))).toMatchObject({ refusal: 'QUOTA_EXCEEDED' })
  const [first, second] = [await channels.buyQuota(), await channels.buyQuota()]
  expect(first).toMatchObject({ price_usdt: 5 })
  expect(second.order_id).not.toBe(first.order_id)
  expect(await payFor(alice, first.order_id)).toBe('channel_quota')
  await payFor(alice, second.order_id)
  await channels.create({ name: 'four' })
  await channels.create({ name: 'five' })
  expect(await failureOf(channels.create({ name: 'six' }))).toMatchObject({ refusal: 'QUOTA_EXCEEDED' })
})

test('the client refuses a GET /me reply with another account or other keys', async () => {
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
  const lies = [
    ['BAD_REPLY', { uuid: crypto.randomUUID() }],
    ['BAD_REPLY', { ed25519_public_key: mallory.ed25519 }],
    ['ACCOUNT_KEY_MISMATCH', { x25519_public_key: mallory.x25519 }],
  ] as const
  for (const [code, lie] of lies) {
    hostile.relay.answers['GET /me'] = () => ({ body: { ...me, ...lie } })
    expect(await failureOf(shop.bind(orderId))).toMatchObject({ code })
    expect(await failureOf(alice.client.restore())).toMatchObject({ code })
  }
  expect(await alice.store.getIdentity()).toEqual(before)
  // The relay assigns aliases, so the client accepts another alias for the same account and keys.
  hostile.relay.answers['GET /me'] = () => ({ body: me })
  expect(await shop.bind(orderId)).toBe('somebody_else')
  await hostile.stop()
})
