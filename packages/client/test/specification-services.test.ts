// The client's side of the specification, row by row: channels, the shop, its orders, and push.
// specification.test.ts names the files with the other rows.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type ErrorCode, errors } from '@sotto/protocol'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { subscriber } from '../../relay/test/push-subscriber.ts'
import { Channels, ClientError, Push, VanityShop } from '../src/client.ts'
import { confirmPayment, freeAlias, untilPaid } from './payments.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld({ MANUAL_PAY_TO: 'the till' })

// Orders are compared as copies, because `toMatchObject` writes its matchers into the compared object.
const ISO_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const ORDER_ID = expect.stringMatching(/^ord_[\w-]+$/)
const CHANNEL_ID = expect.stringMatching(/^ch_[\w-]+$/)
const TEXT = expect.any(String)
const MINUTE_MS = 60_000

const shopOf = ({ client }: Person): VanityShop => new VanityShop(client)
const channelsOf = ({ client }: Person): Channels => new Channels(client)

/** The status and the code with which the relay refuses. */
async function refusalOf(work: Promise<unknown>): Promise<[number, ErrorCode]> {
  const error = await failureOf(work)
  if (!(error instanceof ClientError) || error.refusal === undefined) throw error
  return [errors[error.refusal].status, error.refusal]
}

/** The order of a vanity purchase by this person, paid. */
async function paidOrder(person: Person, alias: string): Promise<string> {
  const { order_id } = await shopOf(person).purchase(alias)
  await confirmPayment(world, order_id)
  await untilPaid(person, order_id)
  return order_id
}

// Channels

test('ChannelInfo: id, name, description, and role, is_subscribed, for_sale, sale_price where they apply', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const id = await channelsOf(alice).create({ name: 'Leaves', description: 'About leaves' })
  const fields = { id, name: 'Leaves', description: 'About leaves', is_subscribed: false, for_sale: false }
  expect((await channelsOf(bob).get(id)) as object).toEqual(fields)
  expect((await channelsOf(alice).get(id)) as object).toMatchObject({ ...fields, role: 'owner' })
  await channelsOf(alice).listForSale(id, 7)
  await channelsOf(bob).subscribe(id)
  expect((await channelsOf(bob).get(id)) as object).toEqual({
    ...{ ...fields, role: 'subscriber', is_subscribed: true, for_sale: true, sale_price: 7 },
  })
})

test('creating a channel returns channel_id, posting returns post_id', async () => {
  const alice = await world.join('alice')
  const id = await channelsOf(alice).create({ name: 'Results' })
  expect(id).toEqual(CHANNEL_ID)
  expect(await channelsOf(alice).post(id, 'first')).toStartWith('p_')
})

test('ChannelPost: id, type, content, created_at, author_alias_id; in the history and in the event', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const channelId = await channelsOf(alice).create({ name: 'Posts' })
  await channelsOf(bob).subscribe(channelId)
  const id = await channelsOf(alice).post(channelId, 'hello', 'note')
  const post = { id, type: 'note', content: 'hello', created_at: ISO_TIME, author_alias_id: alice.alias }
  expect((await channelsOf(bob).posts(channelId)) as readonly object[]).toEqual([post])
  const event = await until('bob gets the post', () => bob.heard.channel_post[0])
  expect(event as object).toEqual({ channelId, post })
})

test('channels: search, own channels, unsubscribing, and what only the owner may do', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const id = await channelsOf(alice).create({ name: 'Zanzibar', isPublic: true })
  const hidden = await channelsOf(alice).create({ name: 'Zanzibar hidden', isPublic: false })
  expect((await channelsOf(bob).search('zanzibar')).map((channel) => channel.id as string)).toEqual([id])
  await channelsOf(bob).subscribe(hidden)
  expect((await channelsOf(bob).mine()).map((channel) => channel.id as string)).toEqual([hidden])
  await channelsOf(bob).unsubscribe(hidden)
  expect(await channelsOf(bob).mine()).toEqual([])
  expect(await refusalOf(channelsOf(bob).listForSale(id, 5))).toEqual([403, 'NOT_CHANNEL_OWNER'])
  // The price is an integer.
  expect(await failureOf(channelsOf(alice).listForSale(id, 1.5))).toMatchObject({ code: 'INVALID_ARGUMENT' })
})

// The shop and its orders

test('VanityItem: alias_id, price_usdt, tier, is_featured; without a query the featured ones by price', async () => {
  const alice = await world.open('nobody')
  const featured = await shopOf(alice).search()
  expect(featured.length).toBeGreaterThan(1)
  for (const item of featured) {
    expect(Object.keys(item).toSorted()).toEqual(['alias_id', 'is_featured', 'price_usdt', 'tier'])
    expect(['top', 'premium', 'standard']).toContain(item.tier)
    expect(item.is_featured).toBe(true)
  }
  const prices = featured.map((item) => item.price_usdt)
  expect(prices).toEqual(prices.toSorted((a, b) => a - b))
  const found = await shopOf(alice).search('tea')
  expect(found.length).toBeGreaterThan(0)
  for (const item of found) expect(item.alias_id).toStartWith('tea')
})

test('PurchaseOrder: its fields; the alias is held for 15 minutes', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const alias_id = await freeAlias(shopOf(alice), 'held')
  const before = Date.now()
  const order = await shopOf(alice).purchase(alias_id)
  expect({ ...order } as object).toMatchObject({
    ...{ order_id: ORDER_ID, alias_id, price_usdt: expect.any(Number), expired_at: ISO_TIME },
    payment_url: expect.stringMatching(/^https?:/),
  })
  const heldMs = Date.parse(order.expired_at) - before
  expect(heldMs).toBeGreaterThan(14 * MINUTE_MS)
  expect(heldMs).toBeLessThan(16 * MINUTE_MS)
  expect(await refusalOf(shopOf(bob).purchase(alias_id))).toEqual([409, 'ALIAS_TAKEN'])
})

test('ReserveOrder and OrderStatus: without an account; the order is not bound to a user', async () => {
  const [nobody, alice] = [await world.open('nobody'), await world.join('alice')]
  const alias_id = await freeAlias(shopOf(nobody), 'reserve')
  const order = await shopOf(nobody).reserve(alias_id)
  expect({ ...order } as object).toMatchObject({
    ...{ order_id: ORDER_ID, alias_id, price_usdt: expect.any(Number), pay_to: 'the till' },
    expired_at: ISO_TIME,
  })
  const statusOf = async (): Promise<object> => shopOf(nobody).orderStatus(order.order_id)
  expect(await statusOf()).toEqual({ status: 'pending', alias_id })
  await confirmPayment(world, order.order_id)
  expect(await statusOf()).toEqual({ status: 'confirmed', alias_id })
  expect(await shopOf(alice).bind(order.order_id)).toBe(alias_id)
})

test('payment order of an alias: pending, then confirmed with an event, then bound', async () => {
  const alice = await world.join('alice')
  const alias_id = await freeAlias(shopOf(alice), 'states')
  const { order_id } = await shopOf(alice).purchase(alias_id)
  expect((await shopOf(alice).orderStatus(order_id)).status).toBe('pending')
  await confirmPayment(world, order_id)
  const event = await until('alice gets the event', () => alice.heard.payment_confirmed[0])
  expect(event).toEqual({ type: 'payment_confirmed', order_id, ref_id: alias_id })
  expect((await shopOf(alice).orderStatus(order_id)).status).toBe('confirmed')
  expect(await shopOf(alice).bind(order_id)).toBe(alias_id)
  expect(alice.alias).toBe(alias_id)
})

test('ChannelTradeOrder: its fields; once it is paid, the channel belongs to the buyer', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const id = await channelsOf(alice).create({ name: 'For sale' })
  await channelsOf(alice).listForSale(id, 12)
  const order = await channelsOf(bob).buy(id)
  expect({ ...order } as object).toMatchObject({
    ...{ order_id: ORDER_ID, price_usdt: 12, pay_to: 'the till', expired_at: ISO_TIME },
  })
  await confirmPayment(world, order.order_id)
  await untilPaid(bob, order.order_id)
  expect(bob.heard.payment_confirmed).toEqual([
    { type: 'payment_confirmed', order_id: order.order_id, ref_id: id },
  ])
  expect(await channelsOf(bob).get(id)).toMatchObject({ role: 'owner', for_sale: false })
})

test('quota: 5 units for one more channel', async () => {
  const alice = await world.join('alice')
  for (const name of ['one', 'two', 'three']) await channelsOf(alice).create({ name })
  const order = await channelsOf(alice).buyQuota()
  expect(order.price_usdt).toBe(5)
  await confirmPayment(world, order.order_id)
  await untilPaid(alice, order.order_id)
  await channelsOf(alice).create({ name: 'four' })
  expect(await refusalOf(channelsOf(alice).create({ name: 'five' }))).toMatchObject({ 1: 'QUOTA_EXCEEDED' })
})

// Errors

test('errors of the shop: 404 for an alias that is not for sale, 404 and 409 for an order that cannot be bound', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  expect(await refusalOf(shopOf(alice).purchase('admin'))).toEqual([404, 'NOT_FOUND'])
  expect(await refusalOf(shopOf(alice).bind(`ord_${'x'.repeat(22)}`))).toEqual([404, 'NOT_FOUND'])
  const pending = await shopOf(alice).purchase(await freeAlias(shopOf(alice), 'pending'))
  expect(await refusalOf(shopOf(alice).bind(pending.order_id))).toEqual([409, 'ORDER_NOT_CONFIRMED'])
  const paid = await paidOrder(alice, await freeAlias(shopOf(alice), 'alices'))
  expect(await refusalOf(shopOf(bob).bind(paid))).toEqual([404, 'NOT_FOUND'])
})

test('errors of buying: 409 for a channel that another one buys, 404 for none, 400 for one’s own, 401 without login', async () => {
  const [alice, bob, carol] = [await world.join('alice'), await world.join('bob'), await world.join('carol')]
  const id = await channelsOf(alice).create({ name: 'Wanted' })
  await channelsOf(alice).listForSale(id, 3)
  await channelsOf(bob).buy(id)
  expect(await refusalOf(channelsOf(carol).buy(id))).toEqual([409, 'CHANNEL_TAKEN'])
  expect(await refusalOf(channelsOf(carol).buy(`ch_${'x'.repeat(21)}A`))).toEqual([404, 'NOT_FOUND'])
  expect(await refusalOf(channelsOf(alice).buy(id))).toEqual([400, 'OWN_CHANNEL'])
  const nobody = await world.open('nobody')
  // The client does not ask the relay without an identity, which would answer 401.
  expect(await failureOf(channelsOf(nobody).buyQuota())).toMatchObject({ code: 'NO_IDENTITY' })
  const answer = await fetch(`${world.relay.url}/api/v1/channels/quota/buy`, { method: 'POST' })
  expect(answer.status).toBe(401)
})

// Endpoints and operations

type Row = readonly [method: string, path: string, hasToken: boolean, body: object]

/** The recorded requests. `names` replaces parts of their paths. */
function rowsOf({ calls }: Recorder, names: Readonly<Record<string, string>>): readonly Row[] {
  return calls.map(({ method, path, authorization, body }) => {
    const parts = path.replace('/api/v1', '').split('/')
    return [method, parts.map((part) => names[part] ?? part).join('/'), authorization !== null, body]
  })
}

test('each operation sends its request, with a token where the specification says JWT', async () => {
  const recorder = new Recorder()
  const alice = await world.join('alice', recorder)
  const bob = await world.join('bob')
  const [shop, channels] = [shopOf(alice), channelsOf(alice)]
  const wanted = await freeAlias(shop, 'request')
  const sold = await channelsOf(bob).create({ name: 'Sold' })
  await channelsOf(bob).listForSale(sold, 1)
  const paid = await paidOrder(alice, await freeAlias(shop, 'bound'))
  recorder.calls.length = 0
  const own = await channels.create({ name: 'Own', description: 'd', isPublic: false })
  await shop.search('request')
  const order = await shop.purchase(wanted)
  await shop.orderStatus(order.order_id)
  await shop.reserve(await freeAlias(shopOf(bob), 'reserved'))
  await channels.search('tea')
  await channels.mine()
  await channels.get(own)
  await channels.subscribe(sold)
  await channels.unsubscribe(sold)
  await channels.post(own, 'text')
  await channels.posts(own)
  await channels.listForSale(own, 2)
  await channels.buy(sold)
  await channels.buyQuota()
  await shop.bind(paid)
  const names = { [own]: '{own}', [sold]: '{sold}', [order.order_id]: '{order}' }
  // The client also asks for the alias that it has now.
  expect(rowsOf(recorder, names)).toEqual([
    ['POST', '/channels', true, { name: 'Own', description: 'd', is_public: false }],
    ['GET', '/vanity/search', false, {}],
    ['POST', '/vanity/purchase', true, { alias_id: wanted }],
    ['GET', '/vanity/order/{order}/status', false, {}],
    ['POST', '/vanity/reserve', false, { alias_id: TEXT }],
    ['GET', '/channels/search', true, {}],
    ['GET', '/channels/mine', true, {}],
    ['GET', '/channels/{own}', true, {}],
    ['POST', '/channels/{sold}/subscribe', true, {}],
    ['DELETE', '/channels/{sold}/subscribe', true, {}],
    ['POST', '/channels/{own}/posts', true, { content: 'text' }],
    ['GET', '/channels/{own}/posts', true, {}],
    ['POST', '/vanity/list-channel', true, { channel_id: own, price_usdt: 2 }],
    ['POST', '/channels/{sold}/buy', true, {}],
    ['POST', '/channels/quota/buy', true, {}],
    ['POST', '/vanity/bind', true, { order_id: paid }],
    ['GET', '/me', true, {}],
  ])
})

test('each operation of friends sends its request, with a token', async () => {
  const [asking, asked] = [new Recorder(), new Recorder()]
  const [alice, bob] = [await world.join('alice', asking), await world.join('bob', asked)]
  await alice.befriend(bob)
  await alice.client.lookUpUser(bob.alias)
  const id = String(bob.client.friends()[0]?.friendship_id)
  const names = { [id]: '{id}', [bob.alias]: '{alias}' }
  const rows: readonly Row[] = [
    ['GET', '/friends', true, {}],
    ['POST', '/friends/request', true, { to_alias_id: bob.alias }],
    ['GET', '/users/{alias}', true, {}],
  ]
  for (const row of rows) expect(rowsOf(asking, names)).toContainEqual(row)
  expect(rowsOf(asked, names)).toContainEqual(['PUT', '/friends/{id}/accept', true, {}])
})

test('register push credential: the subscription and the public application server key', async () => {
  const recorder = new Recorder()
  const alice = await world.join('alice', recorder)
  const push = new Push(alice.client)
  const key = await push.applicationServerKey()
  const { body } = await subscriber('https://push.example/a-browser')
  const options = { applicationServerKey: null }
  await push.register({ options, toJSON: () => body, unsubscribe: async () => true }, key)
  const [call] = recorder.callsOf('/api/v1/push/subscribe')
  expect(call?.authorization).toStartWith('Bearer ')
  const { endpoint, keys } = body
  expect(call?.body).toEqual({ endpoint, keys, vapid_public_key: key })
  await push.disable()
  expect(recorder.callsOf('/api/v1/push/disable').length).toBe(1)
})
