// Orders that are to be paid by hand and last for days (MANUAL_HOLD_HOURS), seen from outside.
import { describe, expect, test } from 'bun:test'
import { expectProblem } from './expect.ts'
import { onEveryEngine } from './use-relay.ts'
import { call, post, type WireAccount, wireAccount } from './wire.ts'

const MINUTE_MS = 60_000
const HOURS = 72
const LONG = 'days'
const USUAL = 'minutes'
let names = 0
function freshId(): string {
  names += 1
  return `river_${names}`
}

/** Whether an order lasts for days or for the usual minutes; otherwise, how long in milliseconds. */
function lastsFor(answer: { expired_at: string; created_at?: string }): string | number {
  const leftMs =
    Date.parse(answer.expired_at) - (answer.created_at ? Date.parse(answer.created_at) : Date.now())
  const isWithin = (mostMs: number) => leftMs <= mostMs && leftMs > mostMs - 10 * MINUTE_MS
  if (isWithin(HOURS * 60 * MINUTE_MS)) return LONG
  return isWithin(15 * MINUTE_MS) ? USUAL : leftMs
}

async function ordered(account: WireAccount, alias = freshId()) {
  const { status, body } = await account.post('/vanity/purchase', { alias_id: alias })
  expect(status).toBe(200)
  return body
}

describe('with a longer time for payments by hand', () => {
  onEveryEngine(
    (relay) => {
      test('an account’s order lasts for days wherever it is shown, and the id is nobody else’s meanwhile', async () => {
        const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const order = await ordered(alice)
        expect(lastsFor(order)).toBe(LONG)
        const again = await ordered(alice, order.alias_id)
        expect([again.order_id, again.expired_at]).toEqual([order.order_id, order.expired_at])
        const [listed] = (await alice.get('/vanity/orders')).body
        expect([listed.expired_at, lastsFor(listed)]).toEqual([order.expired_at, LONG])
        const chosen = await post(alice.api(`/vanity/order/${order.order_id}/method`), { method: 'manual' })
        expect(chosen.body.expired_at).toBe(order.expired_at)
        const state = await call(`${order.payment_url}/state`)
        expect(state.body.expiresAt).toBe(Date.parse(order.expired_at))
        expectProblem(await bob.post('/vanity/purchase', { alias_id: order.alias_id }), 409, 'ALIAS_TAKEN')
        const found = await bob.get(`/vanity/search?q=${order.alias_id}`)
        const ids: string[] = found.body.map((item: { alias_id: string }) => item.alias_id)
        expect(ids).not.toContain(order.alias_id)
      })

      test('a second order of the account, of whatever kind, lasts for the usual minutes', async () => {
        const alice = await wireAccount(relay.url)
        expect(lastsFor(await ordered(alice))).toBe(LONG)
        expect(lastsFor(await ordered(alice))).toBe(USUAL)
        const seat = await alice.post('/channels/quota/buy', {})
        expect([seat.status, lastsFor(seat.body)]).toEqual([200, USUAL])
        expect(lastsFor(await ordered(await wireAccount(relay.url)))).toBe(LONG)
      })

      test('an id that is ordered without an account is held for the usual minutes', async () => {
        const { status, body } = await post(`${relay.url}/api/v1/vanity/reserve`, { alias_id: freshId() })
        expect([status, lastsFor(body)]).toEqual([200, USUAL])
        const chosen = await post(`${relay.url}/api/v1/vanity/order/${body.order_id}/method`, {
          method: 'manual',
        })
        expect([chosen.status, chosen.body.expired_at]).toEqual([200, body.expired_at])
      })

      test('an account that is deleted holds nothing any more', async () => {
        const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const { alias_id } = await ordered(alice)
        expect((await alice.bare('DELETE', '/me')).status).toBe(200)
        expect((await ordered(bob, alias_id)).alias_id).toBe(alias_id)
      })
    },
    { MANUAL_PAY_TO: 'the till', MANUAL_HOLD_HOURS: String(HOURS) },
  )
})
