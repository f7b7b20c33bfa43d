// NOWPayments: held to the documented interface, which a local HTTP server acts; signatures are real.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { OrderId } from '@sotto/protocol'
import { type LocalHttp, serveLocally } from '../../../test/local-http.ts'
import { anOrderId, PaymentBook } from '../../../test/payment-book.ts'
import { recordingLog } from '../../../test/payment-watch.ts'
import { WebhookPayments } from './webhook.ts'

const SECRET = 'ipn-secret'
const AT = 1_767_082_687_409
const clock = { now: () => AT + 60_000, monotonic: () => 0 }

let api: LocalHttp
let reply: () => Response
let book: PaymentBook
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
  book = new PaymentBook()
  orderId = book.add({ amount: 6_000_000n })
  provider = makeProvider(api.url)
  await provider.start(book)
})
afterEach(async () => {
  await provider.stop()
  api[Symbol.dispose]()
})

function makeProvider(apiUrl: string): WebhookPayments {
  const config = { processor: 'nowpayments', apiUrl, apiKey: 'the-key', secret: SECRET, store: '' } as const
  return new WebhookPayments(config, new URL('https://relay.example'), { clock, log: log.log })
}

/** A notification as documented, its numbers as text so that none is changed on the way. */
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

/** What the processor's own code signs: the body with its keys in order, as its runtime writes it. */
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

const tell = (changed: Record<string, string>) => call(notification(changed))

describe('an invoice', () => {
  const order = { depositIndex: 0, price: 6, expiresAt: AT, title: 'the id ada' }

  test('is asked for with the price, the order and where to call back, and its page is where to pay', async () => {
    expect(await provider.open({ ...order, orderId })).toEqual({
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
    ['no JSON', () => new Response('inner words')],
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
    test(`is refused where the processor answers with ${what}, in words of ours`, async () => {
      reply = answer
      await expect(provider.open({ ...order, orderId })).rejects.toMatchObject({
        code: 'PAYMENTS_UNAVAILABLE',
      })
      expect(log.events).toEqual([['warn', 'payment_processor_unreachable']])
      expect(JSON.stringify(log.fields)).not.toContain('inner words')
      expect(api.asked).toHaveLength(1)
    })
  }

  test('is refused where nobody answers', async () => {
    const nobody = makeProvider('http://127.0.0.1:9')
    await expect(nobody.open({ ...order, orderId })).rejects.toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
  })
})

describe('a notification', () => {
  test('that an invoice is paid records it', async () => {
    expect(await tell({})).toBe(200)
    expect([...book.payments.values()]).toEqual([
      {
        reference: 'nowpayments/5333977169',
        scope: 'webhook',
        for: { orderId },
        asset: 'usdt',
        amount: 6_000_000n,
        at: AT,
        isFinal: true,
        isGone: false,
      },
    ])
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
    expect(book.commits).toBe(0)
    expect(log.events).toEqual([['warn', 'payment_notification_refused']]) // Said once, not once a forgery.
  })

  test('that is replayed counts once', async () => {
    const body = notification()
    for (let times = 0; times < 3; times++) expect(await call(body)).toBe(200)
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
  })

  test('goes through the statuses, and only turns final', async () => {
    const steps = [
      ['"waiting"', '0', []],
      ['"confirming"', '0', []],
      ['"confirming"', '0.04781784', ['nowpayments/5333977169 6000000 seen']],
      ['"sending"', '0.04781784', ['nowpayments/5333977169 6000000 seen']],
      ['"finished"', '0.04781784', ['nowpayments/5333977169 6000000 final']],
    ] as const
    for (const [payment_status, actually_paid, lines] of steps) {
      expect(await tell({ payment_status, actually_paid })).toBe(200)
      expect(book.lines()).toEqual([...lines])
    }
  })

  test('that comes out of order takes nothing back', async () => {
    await tell({})
    for (const status of ['waiting', 'confirming', 'failed', 'expired'])
      expect(await tell({ payment_status: `"${status}"` })).toBe(200)
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
  })

  test('that a payment failed takes back what was not final', async () => {
    await tell({ payment_status: '"confirming"' })
    await tell({ payment_status: '"failed"' })
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 gone'])
  })

  test('of a part in another coin is that part of the price, rounded down and never by floating point', async () => {
    await tell({ payment_status: '"partially_paid"', pay_amount: '12.3400001', actually_paid: '12.3400000' })
    // 6 × 12.34 / 12.3400001 = 5.999999951…
    expect(book.lines()).toEqual(['nowpayments/5333977169 5999999 final'])
  })

  test('keeps digits that a double has not', async () => {
    const paid = '123456789.123456789123456789'
    const body = notification({
      payment_status: '"partially_paid"',
      price_amount: '1000000000000',
      pay_amount: '246913578.246913578246913579',
      actually_paid: paid,
    })
    // Signed over the text as sent: what writes such numbers keeps them too.
    const signature = createHmac('sha512', SECRET).update(sortedText(body)).digest('hex')
    expect(await call(body, { 'x-nowpayments-sig': signature })).toBe(200)
    expect(book.lines()).toEqual(['nowpayments/5333977169 499999999999999999 final'])
  })

  test('of a further deposit counts for itself, and two parts of a price are the price', async () => {
    const part = { pay_amount: '3', payment_status: '"partially_paid"' }
    await tell({ ...part, actually_paid: '1', price_amount: '10' })
    await tell({
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

  test('that less than all finished an invoice is the processor’s word that it is paid', async () => {
    await tell({ actually_paid: '0.0478' })
    expect(book.lines()).toEqual(['nowpayments/5333977169 6000000 final'])
  })

  test('for an order that is not known is thanked for, so that it stops, and recorded nowhere', async () => {
    expect(await tell({ order_id: `"${anOrderId(99)}"` })).toBe(200)
    expect(book.lines()).toEqual([])
    expect(log.events).toEqual([['warn', 'payment_notification_refused']])
  })

  const nonsense: Record<string, Record<string, string>> = {
    'an order id': { order_id: '"../../etc"' },
    'no order id': { order_id: 'null' },
    'a payment id': { payment_id: '"a/b"' },
    'an amount': { actually_paid: '"much"' },
    'a negative amount': { actually_paid: '-1' },
    'nothing asked for': { pay_amount: '0' },
    'no price': { price_amount: '0' },
    'another currency': { price_currency: '"eur"' },
  }
  for (const [what, changed] of Object.entries(nonsense)) {
    test(`that names ${what} that makes no sense is refused`, async () => {
      expect(await tell(changed)).toBe(400)
      expect(book.commits).toBe(0)
    })
  }

  test('in a status nobody knows changes nothing', async () => {
    expect(await tell({ payment_status: '"wrong_asset_confirmed"' })).toBe(200)
    expect(book.commits).toBe(0)
    expect(log.events).toEqual([['warn', 'payment_status_unknown']])
  })

  test('is dated by the processor, but never ahead of now', async () => {
    await tell({ updated_at: '9999999999999' })
    expect(book.payments.get('nowpayments/5333977169')?.at).toBe(clock.now())
    await tell({ payment_id: '1', updated_at: '"2025-12-30T08:18:07.409Z"' })
    expect(book.payments.get('nowpayments/1')?.at).toBe(AT)
    await tell({ payment_id: '2', updated_at: 'null' })
    expect(book.payments.get('nowpayments/2')?.at).toBe(clock.now())
  })

  test('is answered only once it is on stable storage', async () => {
    const disk = Promise.withResolvers<void>()
    book.disk = disk.promise
    let isAnswered = false
    const answer = tell({}).then((status) => {
      isAnswered = true
      return status
    })
    await Bun.sleep(50)
    expect(isAnswered).toBe(false)
    disk.resolve()
    expect(await answer).toBe(200)
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
