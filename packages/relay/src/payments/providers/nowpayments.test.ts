// NOWPayments: a local HTTP server simulates the documented API, with real signatures.
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { OrderId } from '@sotto/protocol'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { anOrderId, type LedgerWorld, openLedgerWorld } from '../../../test/ledger-world.ts'
import { type LocalHttp, serveLocally } from '../../../test/local-http.ts'
import { recordingLog } from '../../../test/payment-watch.ts'
import type { Order } from '../order.ts'
import { WebhookPayments } from './webhook.ts'

const SECRET = 'ipn-secret'
const AT = 1_767_082_687_409
const clock = { now: () => AT + 60_000, monotonic: () => 0 }

let api: LocalHttp
let reply: () => Response
let book: LedgerWorld
let order: Order
let orderId: OrderId
let provider: WebhookPayments
let log: ReturnType<typeof recordingLog>

beforeEach(async () => {
  reply = () =>
    Response.json({
      id: '4522625843',
      order_id: orderId,
      invoice_url: 'https://nowpayments.io/payment/?iid=4522625843',
    })
  api = serveLocally(() => reply())
  log = recordingLog()
  book = await openLedgerWorld(clock)
  provider = makeProvider(api.url)
  order = await book.place(provider, 6)
  orderId = order.order_id
  api.asked.length = 0
  await provider.start(book.ledger)
})
afterEach(async () => {
  await provider.stop()
  await book.close()
  api[Symbol.dispose]()
})

function makeProvider(apiUrl: string): WebhookPayments {
  const config = { processor: 'nowpayments', apiUrl, apiKey: 'the-key', secret: SECRET, store: '' } as const
  return new WebhookPayments(config, new URL('https://relay.example'), { clock, log: log.log })
}

/** A notification as documented. The members are given as JSON text, so that numbers are sent unchanged. */
function notification(changed: Record<string, string> = {}): string {
  const members: Record<string, string> = {
    payment_id: '5333977169',
    parent_payment_id: 'null',
    invoice_id: '6273668572',
    payment_status: '"finished"',
    pay_address: '"4ahpSeDEBrpEGY6VL3HY4Qw2Y5xdmnDoXtCAq7hgzosA"',
    payin_extra_id: 'null',
    price_amount: '6',
    price_currency: '"usd"',
    pay_amount: '0.04781784',
    actually_paid: '0.04781784',
    actually_paid_at_fiat: '0',
    pay_currency: '"sol"',
    order_id: `"${orderId}"`,
    order_description: '"the id ada"',
    purchase_id: '"5125864564"',
    outcome_amount: '0.0000635',
    outcome_currency: '"btc"',
    payment_extra_ids: 'null',
    fee: '{"currency":"sol","depositFee":0,"withdrawalFee":0,"serviceFee":0}',
    updated_at: AT.toString(),
    ...changed,
  }
  return `{${Object.entries(members)
    .map(([key, value]) => `"${key}": ${value}`)
    .join(', ')}}`
}

/** Signs as the processor does: the body with sorted keys, as its runtime writes it. */
function signatureOf(body: string, secret = SECRET): string {
  const sort = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sort(v)]),
        )
      : value
  return createHmac('sha512', secret)
    .update(JSON.stringify(sort(JSON.parse(body))))
    .digest('hex')
}

async function call(
  body: string,
  headers: Record<string, string> = { 'x-nowpayments-sig': signatureOf(body) },
) {
  const request = new Request('https://relay.example/payments/webhook', { method: 'POST', headers, body })
  const answer = await provider.callback.answer(request)
  expect(await answer.text()).toBe('')
  return answer.status
}

const notify = (changed: Record<string, string>) => call(notification(changed))

describe('an invoice', () => {
  const toOpen = { depositIndex: 0, price: 6, expiresAt: AT, title: 'the id ada' }

  test('is requested with the price, the order and the callback URL, and its page is the place to pay', async () => {
    expect(await provider.open({ ...toOpen, orderId })).toEqual({
      payTo: 'https://nowpayments.io/payment/?iid=4522625843',
      hostedPage: 'https://nowpayments.io/payment/?iid=4522625843',
      asset: 'usdt',
      amount: 6_000_000n,
    })
    const [asked] = api.asked
    expect(asked).toMatchObject({ method: 'POST', path: '/v1/invoice' })
    expect(asked?.headers.get('x-api-key')).toBe('the-key')
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      price_amount: 6,
      price_currency: 'usd',
      order_id: orderId,
      order_description: 'the id ada',
      ipn_callback_url: 'https://relay.example/payments/webhook',
    })
  })

  const useless: [string, () => Response][] = [
    ['an error', () => Response.json({ message: 'inner words' }, { status: 500 })],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: `${api.url}/v1/elsewhere` } }),
    ],
    ['text that is not JSON', () => new Response('inner words')],
    ['another shape', () => Response.json({ id: 1 })],
    [
      'a page that others can change',
      () => Response.json({ id: '1', invoice_url: 'http://nowpayments.io/1' }),
    ],
    ['a page that is a script', () => Response.json({ id: '1', invoice_url: 'javascript:alert(1)' })],
    [
      'more than 256 KiB',
      () => Response.json({ id: '1', invoice_url: `https://n.io/${'x'.repeat(262_144)}` }),
    ],
  ]
  for (const [what, answer] of useless) {
    test(`fails with the relay’s own message if the processor answers with ${what}`, async () => {
      reply = answer
      expect(await failureOf(provider.open({ ...toOpen, orderId }))).toMatchObject({
        code: 'PAYMENTS_UNAVAILABLE',
      })
      expect(log.events).toEqual([['warn', 'payment_processor_unreachable']])
      expect(JSON.stringify(log.fields)).not.toContain('inner words')
      expect(api.asked).toHaveLength(1)
    })
  }

  test('fails if the processor does not answer', async () => {
    const unreachable = makeProvider('http://127.0.0.1:9')
    expect(await failureOf(unreachable.open({ ...toOpen, orderId }))).toMatchObject({
      code: 'PAYMENTS_UNAVAILABLE',
    })
  })
})

describe('a notification', () => {
  test('that an invoice is paid records the payment', async () => {
    expect(await notify({})).toBe(200)
    expect(book.payments()).toMatchObject([
      {
        ...{ reference: 'nowpayments/5333977169', scope: 'webhook', order_number: order.id, at: AT },
        ...{ asset: 'usdt', amount: '6000000', state: 'final', outcome: 'counted' },
      },
    ])
    expect(book.status(order)).toBe('confirmed')
  })

  test('that is forged is refused, and nothing is recorded', async () => {
    const body = notification()
    const right = signatureOf(body)
    const forged = [
      {},
      { 'x-nowpayments-sig': '' },
      { 'x-nowpayments-sig': 'x'.repeat(128) },
      { 'x-nowpayments-sig': right.slice(2) },
      { 'x-nowpayments-sig': signatureOf(body, 'another secret') },
      { 'x-nowpayments-sig': `${right.startsWith('0') ? '1' : '0'}${right.slice(1)}` },
    ]
    for (const headers of forged) expect(await call(body, headers)).toBe(401)
    expect(await call(notification({ price_amount: '7' }), { 'x-nowpayments-sig': right })).toBe(401)
    expect(await call('not json', { 'x-nowpayments-sig': right })).toBe(401)
    expect(book.payments()).toEqual([])
    // Logged once, not once for each forgery.
    expect(log.events).toEqual([['warn', 'payment_notification_refused']])
  })

  test('that nobody signed costs no parsing of a body that NOWPayments would not send', async () => {
    const parse = spyOn(JSON, 'parse')
    try {
      const headers = { 'x-nowpayments-sig': '0'.repeat(128) }
      for (const body of [`[${'1,'.repeat(8000)}1]`, `{${'"a":1,'.repeat(250)}"a":1}`, '['.repeat(16_000)])
        expect(await call(body, headers)).toBe(401)
      expect(parse).not.toHaveBeenCalled()
      expect(await call(`"${'a'.repeat(16_384)}"`, headers)).toBe(413)
      const chunks = new Blob(['a'.repeat(16_385)]).stream()
      const request = new Request('https://relay.example/', { method: 'POST', headers, body: chunks })
      expect((await provider.callback.answer(request)).status).toBe(413)
    } finally {
      parse.mockRestore()
    }
  })

  test('cannot be extended: only what was signed is read', async () => {
    const genuine = notification({ payment_status: '"waiting"', actually_paid: '0', burning_percent: 'null' })
    const headers = { 'x-nowpayments-sig': signatureOf(genuine) }
    const before = genuine.replace('{', '{"payment_status":"finished", "actually_paid":1, ')
    const after = genuine.replace(/}$/, ', "payment_status":"finished", "actually_paid":1}')
    const deeper = genuine.replace('"fee": {', '"fee": {"__proto__":{"payment_status":"finished"},')
    const other = genuine.replace('"burning_percent": null', '"burning_percent": 1e999')
    expect(await call(before, headers)).toBe(200)
    expect(await call(after, headers)).toBe(401)
    expect(await call(deeper, headers)).toBe(401)
    // JavaScript writes this number as null, and the signature covers a null.
    expect(await call(other, headers)).toBe(200)
    expect(book.payments()).toEqual([])
  })

  test('that is replayed counts once', async () => {
    const body = notification()
    for (let times = 0; times < 3; times++) expect(await call(body)).toBe(200)
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
  })

  test('changes the state of its payment when the status changes', async () => {
    const steps = [
      ['"waiting"', '0', []],
      ['"confirming"', '0', []],
      ['"confirming"', '0.04781784', ['nowpayments/5333977169 6000000 seen']],
      ['"sending"', '0.04781784', ['nowpayments/5333977169 6000000 seen']],
      ['"finished"', '0.04781784', ['nowpayments/5333977169 6000000 final']],
    ] as const
    for (const [payment_status, actually_paid, lines] of steps) {
      expect(await notify({ payment_status, actually_paid })).toBe(200)
      expect(book.lines()).toEqual([...lines])
    }
  })

  test('that a payment was short and then completed is one whole payment, in any order of arrival', async () => {
    const partly = { payment_status: '"partially_paid"', actually_paid: '0.02' }
    await notify({ payment_status: '"waiting"', actually_paid: '0' })
    await notify(partly)
    expect(book.lines()).toEqual(['nowpayments/5333977169 2509523 final'])
    expect(book.status(order)).toBe('pending')
    await notify({})
    expect(book.status(order)).toBe('confirmed')
    for (let times = 0; times < 2; times++) await notify(partly)
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
    expect(book.payments()).toMatchObject([{ outcome: 'counted', refund_amount: null }])
  })

  test('that arrives out of order retracts nothing', async () => {
    await notify({})
    for (const status of ['waiting', 'confirming', 'failed', 'expired'])
      expect(await notify({ payment_status: `"${status}"` })).toBe(200)
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
  })

  test('that a payment failed retracts it if it was not final', async () => {
    await notify({ payment_status: '"confirming"' })
    await notify({ payment_status: '"failed"' })
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 gone'])
  })

  test('of a part in another coin is the same part of the price, rounded down without floating point', async () => {
    await notify({
      payment_status: '"partially_paid"',
      pay_amount: '12.3400001',
      actually_paid: '12.3400000',
    })
    // 6 × 12.34 / 12.3400001 = 5.999999951…
    expect(book.lines()).toEqual(['nowpayments/5333977169 5999999 final'])
  })

  test('keeps digits that floating point would lose', async () => {
    const paid = '123456789.123456789123456789'
    const body = notification({
      payment_status: '"partially_paid"',
      price_amount: '1000000000000',
      pay_amount: '246913578.246913578246913579',
      actually_paid: paid,
    })
    // The signature covers the text as sent: a sender that writes such numbers signs them too.
    const signature = createHmac('sha512', SECRET).update(sortedText(body)).digest('hex')
    expect(await call(body, { 'x-nowpayments-sig': signature })).toBe(200)
    expect(book.lines()).toEqual(['nowpayments/5333977169 499999999999999999 final'])
  })

  test('of a further deposit counts separately, and two parts of a price are the price', async () => {
    const part = { pay_amount: '3', payment_status: '"partially_paid"' }
    await notify({ ...part, actually_paid: '1', price_amount: '10' })
    await notify({
      ...part,
      actually_paid: '2',
      price_amount: '10',
      payment_id: '5333977170',
      parent_payment_id: '5333977169',
      payment_status: '"finished"',
    })
    expect(book.lines()).toEqual([
      'nowpayments/5333977169 3333333 final',
      'nowpayments/5333977170 6666667 final',
    ])
  })

  test('that an invoice is finished with less than the price counts as paid, because the processor says so', async () => {
    await notify({ actually_paid: '0.0478' })
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
  })

  test('for an unknown order is acknowledged, so that it is not repeated, and not recorded', async () => {
    expect(await notify({ order_id: `"${anOrderId(99)}"` })).toBe(200)
    expect(book.lines()).toEqual([])
    expect(log.events).toEqual([['warn', 'payment_notification_refused']])
  })

  const nonsense: Record<string, Record<string, string>> = {
    'an order id': { order_id: '"../../etc"' },
    'no order id': { order_id: 'null' },
    'a payment id': { payment_id: '"a/b"' },
    'an amount': { actually_paid: '"much"' },
    'a negative amount': { actually_paid: '-1' },
    'a negative price': { price_amount: '-6' },
    'a negative requested amount': { pay_amount: '-0.04781784', actually_paid: '-0.04781784' },
    'an amount without end': { actually_paid: '"1e999999999"' },
    'an amount in other digits': { actually_paid: '"١"' },
    'a payment id in other digits': { payment_id: '"５"' },
    'a requested amount of zero': { pay_amount: '0' },
    'a price of zero': { price_amount: '0' },
    'another currency': { price_currency: '"eur"' },
  }
  for (const [what, changed] of Object.entries(nonsense)) {
    test(`that has an invalid value of ${what} is refused`, async () => {
      expect(await notify(changed)).toBe(400)
      expect(book.payments()).toEqual([])
    })
  }

  test('with an unknown status changes nothing', async () => {
    expect(await notify({ payment_status: '"wrong_asset_confirmed"' })).toBe(200)
    expect(book.payments()).toEqual([])
    expect(log.events).toEqual([['warn', 'payment_status_unknown']])
  })

  test('records the processor’s time, but never a future one', async () => {
    await notify({ updated_at: '9999999999999' })
    expect(book.payment('nowpayments/5333977169')?.at).toBe(clock.now())
    await notify({ payment_id: '1', updated_at: '"2025-12-30T08:18:07.409Z"' })
    expect(book.payment('nowpayments/1')?.at).toBe(AT)
    await notify({ payment_id: '2', updated_at: 'null' })
    expect(book.payment('nowpayments/2')?.at).toBe(clock.now())
  })

  test('is answered only after other connections can read its payment in the store', async () => {
    const statuses = await Promise.all(
      ['1', '2', '3'].map(async (payment_id) => {
        const status = await notify({ payment_id })
        expect(book.lines()).toContain(`nowpayments/${payment_id} 6000000 final`)
        return status
      }),
    )
    expect(statuses).toEqual([200, 200, 200])
  })
})

function sortedText(body: string): string {
  const members = [...body.matchAll(/"(\w+)": (\{[^}]*\}|"[^"]*"|[^,}]+)/g)].map(([, key, value]) => [
    key,
    value,
  ])
  const sorted = members
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([key, value]) => `"${key}":${value}`)
  return `{${sorted.join()}}`.replace(
    /\{"currency":"sol".*?\}/,
    '{"currency":"sol","depositFee":0,"serviceFee":0,"withdrawalFee":0}',
  )
}
