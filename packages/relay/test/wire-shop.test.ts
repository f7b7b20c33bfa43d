// The shop, seen from outside: ids, channels and seats; the fields of an order, the refusals, and the effect
// of a payment. Payments are simulated here (PAYMENTS=dev) or never confirmed. evm-shop.test.ts uses a real
// chain.
import { describe, expect, test } from 'bun:test'
import { expectFields, expectInvalidField, expectProblem, FORMS } from './expect.ts'
import { eventually } from './payment-watch.ts'
import { onEveryEngine } from './use-relay.ts'
import { befriend, call, message, post, type WireAccount, wireAccount, wireFriends } from './wire.ts'

/** The fields of every order's reply that say how to pay. */
const PAYING = ['pay_to', 'payment_url', 'method', 'methods']
const ORDER = /^ord_[A-Za-z0-9_-]{20,64}$/
const UNKNOWN_ORDER = `ord_${'x'.repeat(24)}`
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
let names = 0
/** An id that no other test here uses. */
function freshId(): string {
  names += 1
  return `river_${names}`
}

async function confirmed(account: WireAccount, orderId: string): Promise<void> {
  for (let tries = 0; tries < 450; tries++) {
    const { body } = await call(account.api(`/vanity/order/${orderId}/status`))
    if (body.status === 'confirmed') return
    await Bun.sleep(100)
  }
  throw new Error('the order was not confirmed')
}

async function bought(account: WireAccount, alias: string): Promise<string> {
  const { body } = await account.post('/vanity/purchase', { alias_id: alias })
  await confirmed(account, body.order_id)
  return body.order_id
}

async function offered(owner: WireAccount, price = 40): Promise<string> {
  const { body } = await owner.post('/channels', { name: 'Cats' })
  await owner.post('/vanity/list-channel', { channel_id: body.channel_id, price_usdt: price })
  return body.channel_id
}

// An order is paid two seconds after it was placed, so the tests wait together.
describe('with simulated payments', () => {
  onEveryEngine(
    (relay) => {
      test.concurrent('an id is bought, announced by payment_confirmed and bound, and is then the account’s alias everywhere', async () => {
        const { alice, bob, conv } = await wireFriends(relay.url)
        const alias = freshId()
        const bobOnline = (await bob.online()).socket
        const { socket } = await alice.online()
        const order = await alice.post('/vanity/purchase', { alias_id: alias })
        expect(order.status).toBe(200)
        expectFields(order.body, ['order_id', 'alias_id', 'price_usdt', 'expired_at', ...PAYING])
        expect(order.body.alias_id).toBe(alias)
        expect(order.body.order_id).toMatch(ORDER)
        expect(order.body.expired_at).toMatch(FORMS.timestamp)
        const left = Date.parse(order.body.expired_at) - Date.now()
        expect(left).toBeGreaterThan(14 * MINUTE_MS)
        expect(left).toBeLessThanOrEqual(15 * MINUTE_MS)
        expect(order.body.payment_url).toStartWith(`${relay.url}/pay/`)
        expect(order.body.payment_url).not.toContain(order.body.order_id.slice(4))

        const frame = { type: 'payment_confirmed', order_id: order.body.order_id, ref_id: alias }
        expect(await socket.next('payment_confirmed')).toEqual(frame)
        expect((await alice.get('/me')).body.alias_id).not.toBe(alias)
        const bound = await alice.post('/vanity/bind', { order_id: order.body.order_id })
        expect([bound.status, bound.body]).toEqual([200, { alias_id: alias }])

        expect((await alice.get('/me')).body.alias_id).toBe(alias)
        expect((await bob.get(`/users/${alias}`)).body.alias_id).toBe(alias)
        expectProblem(await bob.get(`/users/${alice.alias}`), 404, 'NOT_FOUND')
        expect((await bob.get('/friends')).body[0]).toMatchObject({ alias_id: alias, conversation_id: conv })
        expect(await bobOnline.next('friend_accepted')).toMatchObject({ from: alias, conv_id: conv })

        // Frames on connections from before: sent from the new alias, and accepted to both aliases.
        socket.send(message(bob.alias, conv, 'from the new one'))
        expect(await bobOnline.next('msg')).toMatchObject({ from: alias, to: bob.alias })
        bobOnline.send(message(alias, conv, 'to the new one'))
        expect(await socket.next('msg')).toMatchObject({ to: alias, from: bob.alias })
        bobOnline.send(message(alice.alias, conv, 'to the old one'))
        expect(await socket.next('msg')).toMatchObject({ to: alias, from: bob.alias })
        bobOnline.send({ type: 'typing', to: alice.alias, conv_id: conv })
        expect(await socket.next('typing')).toMatchObject({ from: bob.alias })
        expectProblem(await bob.post('/friends/request', { to_alias_id: alice.alias }), 404, 'NOT_FOUND')
        expectProblem(await bob.post('/friends/request', { to_alias_id: alias }), 409, 'ALREADY_FRIENDS')
        await socket.close()
        await bobOnline.close()
      })

      test.concurrent('an account that was offline gets payment_confirmed on every connection until it counts as arrived', async () => {
        const alice = await wireAccount(relay.url)
        const alias = freshId()
        const order = await bought(alice, alias)
        const { socket, backlog } = await alice.online()
        const frame = { type: 'payment_confirmed', order_id: order, ref_id: alias }
        expect(backlog.filter(({ type }) => type === 'payment_confirmed')).toEqual([frame])
        await socket.close()
        const again = await alice.online()
        expect(again.backlog).toContainEqual(frame)
        await again.socket.close()
      })

      test.concurrent('binding twice changes nothing; an id that was bound before stays the account’s', async () => {
        const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const [first, second] = [freshId(), freshId()]
        const order = await bought(alice, first)
        await alice.post('/vanity/bind', { order_id: order })
        expect((await alice.post('/vanity/bind', { order_id: order })).body).toEqual({ alias_id: first })
        const next = await bought(alice, second)
        expect((await alice.post('/vanity/bind', { order_id: next })).body).toEqual({ alias_id: second })
        expectProblem(await alice.post('/vanity/bind', { order_id: order }), 409, 'ALIAS_TAKEN')
        for (const taken of [first, second]) {
          expectProblem(await bob.post('/vanity/purchase', { alias_id: taken }), 409, 'ALIAS_TAKEN')
          const found = await call(`${relay.url}/api/v1/vanity/search?q=${taken}`)
          expect(found.body.map(({ alias_id }: { alias_id: string }) => alias_id)).not.toContain(taken)
        }
        expectProblem(await bob.post('/vanity/bind', { order_id: order }), 404, 'NOT_FOUND')
        expect(await befriend(bob, Object.assign(alice, { alias: second }))).toMatch(FORMS.uuid)
      })

      test.concurrent('buying a channel changes its owner, ends its listing and changes the seats of both accounts', async () => {
        const [seller, buyer] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const channel = await offered(seller, 40)
        await seller.post('/channels', { name: 'b' })
        await seller.post('/channels', { name: 'c' })
        expectProblem(await seller.post('/channels', { name: 'd' }), 403, 'QUOTA_EXCEEDED')
        const { socket } = await buyer.online()
        const order = await buyer.bare('POST', `/channels/${channel}/buy`)
        expect(order.status).toBe(200)
        expectFields(order.body, ['order_id', 'price_usdt', 'expired_at', ...PAYING])
        expect(order.body.price_usdt).toBe(40)
        const frame = { type: 'payment_confirmed', order_id: order.body.order_id, ref_id: channel }
        expect(await socket.next('payment_confirmed')).toEqual(frame)
        const detail = (await buyer.get(`/channels/${channel}`)).body
        expect(detail).toMatchObject({ role: 'owner', for_sale: false })
        expect(detail).not.toHaveProperty('sale_price')
        expect((await seller.get(`/channels/${channel}`)).body).not.toHaveProperty('role')
        expectProblem(
          await seller.post(`/channels/${channel}/posts`, { content: 'x' }),
          403,
          'NOT_CHANNEL_OWNER',
        )
        expect((await buyer.post(`/channels/${channel}/posts`, { content: 'mine now' })).status).toBe(200)
        expect((await seller.post('/channels', { name: 'd' })).status).toBe(200)
        const mine = (await buyer.get('/vanity/orders')).body
        expect(mine).toEqual([
          {
            ...{ order_id: order.body.order_id, kind: 'channel', ref_id: channel, status: 'confirmed' },
            ...{ price_usdt: 40, pay_to: order.body.pay_to, payment_url: order.body.payment_url },
            ...{ method: 'dev', methods: [] },
            ...{ created_at: expect.any(String), expired_at: order.body.expired_at },
          },
        ])
        expect((await seller.get('/vanity/orders')).body).toEqual([])
        await socket.close()
      })

      test.concurrent('buying a seat allows one more channel, not two', async () => {
        const owner = await wireAccount(relay.url)
        for (const name of ['a', 'b', 'c']) await owner.post('/channels', { name })
        expectProblem(await owner.post('/channels', { name: 'd' }), 403, 'QUOTA_EXCEEDED')
        const { socket } = await owner.online()
        const order = (await owner.bare('POST', '/channels/quota/buy')).body
        expect(order.price_usdt).toBe(5)
        const frame = { type: 'payment_confirmed', order_id: order.order_id, ref_id: 'channel_quota' }
        expect(await socket.next('payment_confirmed')).toEqual(frame)
        const status = await call(owner.api(`/vanity/order/${order.order_id}/status`))
        expect(status.body).toEqual({ status: 'confirmed', alias_id: '' })
        expect((await owner.post('/channels', { name: 'd' })).status).toBe(200)
        expectProblem(await owner.post('/channels', { name: 'e' }), 403, 'QUOTA_EXCEEDED')
        await socket.close()
      })

      test.concurrent('a reserved id belongs to no account until it is paid and bound', async () => {
        const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const alias = freshId()
        const reserved = await post(`${relay.url}/api/v1/vanity/reserve`, { alias_id: alias })
        expect(reserved.status).toBe(200)
        const fields = ['order_id', 'alias_id', 'price', 'price_usdt', 'expired_at']
        expectFields(reserved.body, [...fields, ...PAYING])
        expect(reserved.body.price).toBe(reserved.body.price_usdt)
        await confirmed(alice, reserved.body.order_id)
        const status = await call(alice.api(`/vanity/order/${reserved.body.order_id}/status`))
        expect(status.body).toEqual({ status: 'confirmed', alias_id: alias })
        const bound = await alice.post('/vanity/bind', { order_id: reserved.body.order_id })
        expect(bound.body).toEqual({ alias_id: alias })
        expectProblem(await bob.post('/vanity/bind', { order_id: reserved.body.order_id }), 404, 'NOT_FOUND')
      })

      test.concurrent('deleting an account ends its orders: an unbound id is for sale again, a bound id stays taken', async () => {
        const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const [unbound, bound] = [freshId(), freshId()]
        await bought(alice, unbound)
        await alice.post('/vanity/bind', { order_id: await bought(alice, bound) })
        await alice.bare('DELETE', '/me')
        expect((await bob.post('/vanity/purchase', { alias_id: unbound })).status).toBe(200)
        expectProblem(await bob.post('/vanity/purchase', { alias_id: bound }), 409, 'ALIAS_TAKEN')
      })
    },
    { PAYMENTS: 'dev' },
  )
})

describe('before payment', () => {
  onEveryEngine(
    (relay) => {
      test('if several accounts buy the same id or channel at once, one gets the order and the others get 409', async () => {
        const [seller, ...buyers] = await Promise.all(Array.from({ length: 5 }, () => wireAccount(relay.url)))
        if (!seller) throw new Error('expected a seller')
        const alias = freshId()
        const ids = await Promise.all(
          buyers.map((buyer) => buyer.post('/vanity/purchase', { alias_id: alias })),
        )
        expect(ids.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
        const channel = await offered(seller)
        const channels = await Promise.all(
          buyers.map((buyer) => buyer.bare('POST', `/channels/${channel}/buy`)),
        )
        expect(channels.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
        for (const answer of ids) if (answer.status === 409) expectProblem(answer, 409, 'ALIAS_TAKEN')
        for (const answer of channels) if (answer.status === 409) expectProblem(answer, 409, 'CHANNEL_TAKEN')
      })

      test('a repeated purchase by the same account gets the same order', async () => {
        const alice = await wireAccount(relay.url)
        const alias = freshId()
        const first = await alice.post('/vanity/purchase', { alias_id: alias })
        expect((await alice.post('/vanity/purchase', { alias_id: alias })).body).toEqual(first.body)
        const channel = await offered(await wireAccount(relay.url))
        const bid = await alice.bare('POST', `/channels/${channel}/buy`)
        expect((await alice.bare('POST', `/channels/${channel}/buy`)).body).toEqual(bid.body)
      })

      test('an id that is held by an order is not offered', async () => {
        const alice = await wireAccount(relay.url)
        const alias = freshId()
        const search = async (): Promise<string[]> =>
          (await call(`${relay.url}/api/v1/vanity/search?q=${alias}`)).body.map(
            ({ alias_id }: { alias_id: string }) => alias_id,
          )
        expect(await search()).toContain(alias)
        await alice.post('/vanity/purchase', { alias_id: alias })
        expect(await search()).not.toContain(alias)
      })

      test('an unpaid order cannot be bound; another account’s order or an unknown one is not found', async () => {
        const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const { body } = await alice.post('/vanity/purchase', { alias_id: freshId() })
        expectProblem(
          await alice.post('/vanity/bind', { order_id: body.order_id }),
          409,
          'ORDER_NOT_CONFIRMED',
        )
        expectProblem(await bob.post('/vanity/bind', { order_id: body.order_id }), 404, 'NOT_FOUND')
        expectProblem(await alice.post('/vanity/bind', { order_id: UNKNOWN_ORDER }), 404, 'NOT_FOUND')
        const seat = await alice.bare('POST', '/channels/quota/buy')
        expectProblem(await alice.post('/vanity/bind', { order_id: seat.body.order_id }), 404, 'NOT_FOUND')
        expectProblem(await call(alice.api(`/vanity/order/${UNKNOWN_ORDER}/status`)), 404, 'NOT_FOUND')
        expectProblem(await call(alice.api('/vanity/order/x/status')), 404, 'NOT_FOUND')
        const status = await call(alice.api(`/vanity/order/${body.order_id}/status`))
        expect(status.body).toEqual({ status: 'pending', alias_id: body.alias_id })
      })

      test('a channel that is unknown, not for sale or one’s own cannot be bought', async () => {
        const [seller, buyer] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        expectProblem(await buyer.bare('POST', `/channels/ch_${'x'.repeat(22)}/buy`), 404, 'NOT_FOUND')
        const channel = await offered(seller)
        expectProblem(await seller.bare('POST', `/channels/${channel}/buy`), 400, 'OWN_CHANNEL')
        await seller.bare('DELETE', `/channels/${channel}/listing`)
        expectProblem(await buyer.bare('POST', `/channels/${channel}/buy`), 404, 'NOT_FOUND')
      })

      test('an id without a price is not found; an invalid id is refused with the name of the field', async () => {
        const alice = await wireAccount(relay.url)
        for (const path of ['/vanity/purchase', '/vanity/reserve']) {
          expectProblem(await alice.post(path, { alias_id: 'u12345678' }), 404, 'NOT_FOUND')
          expectProblem(await alice.post(path, { alias_id: 'sotto' }), 404, 'NOT_FOUND')
          for (const alias_id of ['', 'ab', 'Ada', 'a b c', 'x'.repeat(33), 7, null])
            expectInvalidField(await alice.post(path, { alias_id }), 'alias_id')
          expectInvalidField(await alice.post(path, {}), 'alias_id')
        }
        for (const order_id of ['', 'x', 'ord_', `ord_${'x'.repeat(65)}`, 7, null])
          expectInvalidField(await alice.post('/vanity/bind', { order_id }), 'order_id')
      })

      test('a fourth unpaid order is refused', async () => {
        const alice = await wireAccount(relay.url)
        for (let n = 0; n < 3; n++) await alice.post('/vanity/purchase', { alias_id: freshId() })
        expectProblem(await alice.bare('POST', '/channels/quota/buy'), 409, 'TOO_MANY_ORDERS')
        expect((await alice.get('/vanity/orders')).body).toHaveLength(3)
      })

      test('without a login an id can be reserved, and nothing can be bought', async () => {
        const channel = await offered(await wireAccount(relay.url))
        const paths = ['/channels/quota/buy', `/channels/${channel}/buy`, '/vanity/purchase', '/vanity/bind']
        for (const path of paths) {
          const answer = await post(`${relay.url}/api/v1${path}`, { alias_id: freshId() })
          expectProblem(answer, 401, 'UNAUTHENTICATED')
        }
        expectProblem(await call(`${relay.url}/api/v1/vanity/orders`), 401, 'UNAUTHENTICATED')
      })
    },
    { MANUAL_PAY_TO: 'IBAN XX00 0000' },
  )
})

describe('without a payment provider', () => {
  onEveryEngine((relay) => {
    test('nothing can be bought, and the attempts leave no orders', async () => {
      const [alice, seller] = [await wireAccount(relay.url), await wireAccount(relay.url)]
      const channel = await offered(seller)
      const alias = freshId()
      for (let n = 0; n < 5; n++) {
        const tried = await alice.post('/vanity/purchase', { alias_id: alias })
        expectProblem(tried, 503, 'PAYMENTS_UNAVAILABLE')
      }
      expectProblem(await alice.bare('POST', `/channels/${channel}/buy`), 503, 'PAYMENTS_UNAVAILABLE')
      expectProblem(await alice.bare('POST', '/channels/quota/buy'), 503, 'PAYMENTS_UNAVAILABLE')
      expectProblem(await alice.post('/vanity/purchase', { alias_id: 'sotto' }), 404, 'NOT_FOUND')
      expect((await alice.get('/vanity/orders')).body).toEqual([])
    })
  })
})

describe('the rates of the shop', () => {
  onEveryEngine(
    (relay) => {
      test('an order that nobody paid is shown as ended within seconds of its end', async () => {
        const reserved = await post(`${relay.url}/api/v1/vanity/reserve`, { alias_id: freshId() })
        const status = `${relay.url}/api/v1/vanity/order/${reserved.body.order_id}/status`
        expect((await call(status)).body.status).toBe('pending')
        await relay.process.letPass(15 * 60_000 + 1)
        await eventually(async () => expect((await call(status)).body.status).toBe('expired'))
        await relay.process.letPass(DAY_MS)
      })

      test('an address can reserve three ids in any day, whatever restarts in between', async () => {
        const reserve = () => post(`${relay.url}/api/v1/vanity/reserve`, { alias_id: freshId() })
        for (let n = 0; n < 3; n++) expect((await reserve()).status).toBe(200)
        const refused = await reserve()
        expectProblem(refused, 429, 'RATE_LIMITED', { limit: 'reserve' })
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(23 * 3600)

        await relay.process.letPass(DAY_MS / 2)
        expectProblem(await reserve(), 429, 'RATE_LIMITED', { limit: 'reserve' })
        await relay.process.kill('SIGKILL')
        await relay.process.start()
        expectProblem(await reserve(), 429, 'RATE_LIMITED', { limit: 'reserve' })
        await relay.process.letPass(DAY_MS / 2 + 1)
        for (let n = 0; n < 3; n++) expect((await reserve()).status).toBe(200)
        expectProblem(await reserve(), 429, 'RATE_LIMITED', { limit: 'reserve' })
      })
    },
    { MANUAL_PAY_TO: 'IBAN XX00 0000', RATE_LIMITS: 'on' },
  )
})
