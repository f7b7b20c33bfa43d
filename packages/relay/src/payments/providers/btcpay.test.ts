// BTCPay Server: a local HTTP server simulates the documented API, with real signatures.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { OrderId } from '@sotto/protocol'
import { anOrderId, type LedgerWorld, openLedgerWorld } from '../../../test/ledger-world.ts'
import { type LocalHttp, serveLocally } from '../../../test/local-http.ts'
import { recordingLog } from '../../../test/payment-watch.ts'
import type { Order } from '../order.ts'
import { WebhookPayments } from './webhook.ts'

const SECRET = 'webhook-secret'
const INVOICE = 'XqjhzvXoBMdFZ8Ckq9sJ5V'
const PAID_AT = 1_767_082_687
const clock = { now: () => (PAID_AT + 600) * 1000, monotonic: () => 0 }

interface FakePayment {
  id: string
  value: string
  status: 'Invalid' | 'Processing' | 'Settled'
  receivedDate: number
}

let api: LocalHttp
let status: string
let additionalStatus: string
let methods: { amount: string; payments: FakePayment[] }[]
let isDown: boolean
let book: LedgerWorld
let order: Order
let orderId: OrderId
let provider: WebhookPayments
let log: ReturnType<typeof recordingLog>

beforeEach(async () => {
  status = 'New'
  additionalStatus = 'None'
  methods = []
  isDown = false
  api = serveLocally(({ method, path }) => {
    if (isDown) return new Response('inner words', { status: 502 })
    const invoice = { id: INVOICE, status, additionalStatus, amount: '10', currency: 'USD' }
    const checkoutLink = `https://pay.example/i/${INVOICE}`
    if (method === 'POST') return Response.json({ ...invoice, checkoutLink })
    if (path.endsWith(`/invoices/${INVOICE}`)) return Response.json({ ...invoice, metadata: { orderId } })
    if (!path.endsWith('/payment-methods?onlyAccountedPayments=false'))
      return new Response(null, { status: 404 })
    return Response.json(methods.map((one) => ({ paymentMethodId: 'BTC-CHAIN', currency: 'BTC', ...one })))
  })
  log = recordingLog()
  book = await openLedgerWorld(clock)
  const config = {
    processor: 'btcpay',
    apiUrl: api.url,
    apiKey: 'the-key',
    secret: SECRET,
    store: 'store1',
  } as const
  provider = new WebhookPayments(config, new URL('https://relay.example'), { clock, log: log.log })
  await provider.start(book.ledger)
  order = await book.place(provider, 10)
  orderId = order.order_id
  api.asked.length = 0
})
afterEach(async () => {
  await provider.stop()
  await book.close()
  api[Symbol.dispose]()
})

function payment(changed: Partial<FakePayment> = {}): FakePayment {
  return { id: 'f00d-0', value: '0.00015530', status: 'Processing', receivedDate: PAID_AT, ...changed }
}

const sign = (body: string, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

function event(type: string, changed: object = {}): string {
  return JSON.stringify({
    deliveryId: 'D1',
    webhookId: 'W1',
    originalDeliveryId: 'D1',
    isRedelivery: false,
    type,
    timestamp: PAID_AT,
    storeId: 'store1',
    invoiceId: INVOICE,
    metadata: { orderId, itemDesc: 'the id ada' },
    ...changed,
  })
}

async function call(
  body: string,
  headers: Record<string, string> = { 'btcpay-sig': sign(body) },
): Promise<number> {
  const request = new Request('https://relay.example/payments/webhook', { method: 'POST', headers, body })
  return (await provider.callback.answer(request)).status
}

describe('an invoice', () => {
  test('is requested in dollars with the order’s id and end, and its page is the place to pay', async () => {
    const expiresAt = clock.now() + 14.5 * 60_000
    const toOpen = { orderId, depositIndex: 0, price: 10, expiresAt, title: 'the id ada' }
    const page = `https://pay.example/i/${INVOICE}`
    expect(await provider.open(toOpen)).toEqual({
      payTo: page,
      hostedPage: page,
      asset: 'usdt',
      amount: 10_000_000n,
    })
    const [asked] = api.asked
    expect(asked).toMatchObject({ method: 'POST', path: '/api/v1/stores/store1/invoices' })
    expect(asked?.headers.get('authorization')).toBe('token the-key')
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      amount: '10',
      currency: 'USD',
      metadata: { orderId, itemDesc: 'the id ada' },
      checkout: { expirationMinutes: 15 },
    })
  })
})

describe('a notification', () => {
  test('makes the relay read the invoice and record its payments by their ids and times', async () => {
    methods = [{ amount: '0.00015530', payments: [payment()] }]
    expect(await call(event('InvoiceReceivedPayment'))).toBe(200)
    expect(book.payments()).toMatchObject([
      {
        ...{ reference: `btcpay/${INVOICE}/f00d-0`, scope: 'webhook', order_number: order.id },
        ...{ asset: 'usdt', amount: '10000000', at: PAID_AT * 1000, state: 'seen' },
      },
    ])
    expect(book.status(order)).toBe('pending')
  })

  test('that the invoice is settled makes its payments final, once, even if it is delivered repeatedly', async () => {
    methods = [{ amount: '0.00015530', payments: [payment({ status: 'Settled' })] }]
    status = 'Processing'
    await call(event('InvoicePaymentSettled'))
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/f00d-0 10000000 seen`])
    status = 'Settled'
    for (const isRedelivery of [false, true, true])
      expect(await call(event('InvoiceSettled', { isRedelivery }))).toBe(200)
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/f00d-0 10000000 final`])
  })

  test('that arrives out of order reports the current state', async () => {
    methods = [{ amount: '0.00015530', payments: [payment({ status: 'Settled' })] }]
    status = 'Settled'
    for (const type of ['InvoiceSettled', 'InvoiceReceivedPayment', 'InvoiceProcessing'])
      expect(await call(event(type))).toBe(200)
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/f00d-0 10000000 final`])
  })

  test('that is forged is refused; nothing is requested or recorded', async () => {
    methods = [{ amount: '0.00015530', payments: [payment()] }]
    const body = event('InvoiceReceivedPayment')
    const right = sign(body)
    for (const signature of ['', 'sha256=', right.slice(7), sign(body, 'another'), `${right.slice(0, -1)}g`])
      expect(await call(body, { 'btcpay-sig': signature })).toBe(401)
    expect(await call(body, {})).toBe(401)
    expect(await call(`${body} `, { 'btcpay-sig': right })).toBe(401)
    expect(api.asked).toEqual([])
    expect(book.payments()).toEqual([])
  })

  test('of parts in two coins records each share, and together the price', async () => {
    status = 'Settled'
    methods = [
      { amount: '0.00015530', payments: [payment({ id: 'a', value: '0.00005176', status: 'Settled' })] },
      {
        amount: '0.09999999',
        payments: [payment({ id: 'b', value: '0.06667095', status: 'Settled', receivedDate: PAID_AT + 60 })],
      },
    ]
    await call(event('InvoiceSettled'))
    // The processor rounds, so the two shares add up to 9.9999997. The status `Settled` says that the whole
    // price is paid.
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/a 3332904 final`, `btcpay/${INVOICE}/b 6667096 final`])
  })

  test('of less than the price records the amount, as final when the invoice has ended', async () => {
    methods = [{ amount: '0.00015530', payments: [payment({ value: '0.00007765', status: 'Settled' })] }]
    await call(event('InvoiceReceivedPayment'))
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/f00d-0 5000000 seen`])
    status = 'Expired'
    await call(event('InvoiceExpired', { partiallyPaid: true }))
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/f00d-0 5000000 final`])
  })

  test('of late parts that together are the price adds the rounding difference to the last part', async () => {
    status = 'Expired'
    additionalStatus = 'PaidLate'
    const third = { value: '0.00001', status: 'Settled' } as const
    const late = ['a', 'b', 'c'].map((id, at) => payment({ id, ...third, receivedDate: PAID_AT + at }))
    methods = [{ amount: '0.00003', payments: late }]
    await call(event('InvoiceReceivedPayment', { afterExpiration: true }))
    expect(book.lines().map((line) => line.split(' ')[1])).toEqual(['3333333', '3333333', '3333334'])
  })

  test('of more than the price records the whole amount', async () => {
    status = 'Settled'
    const more = payment({ id: 'more', status: 'Settled', receivedDate: PAID_AT + 1 })
    methods = [{ amount: '0.00015530', payments: [more, payment({ status: 'Settled' })] }]
    await call(event('InvoiceReceivedPayment', { afterExpiration: true }))
    expect(book.lines()).toEqual([
      `btcpay/${INVOICE}/f00d-0 10000000 final`,
      `btcpay/${INVOICE}/more 10000000 final`,
    ])
  })

  test('that a payment did not confirm in time retracts it', async () => {
    methods = [{ amount: '0.00015530', payments: [payment()] }]
    await call(event('InvoiceProcessing'))
    status = 'Invalid'
    await call(event('InvoiceInvalid'))
    expect(book.lines()).toEqual([`btcpay/${INVOICE}/f00d-0 10000000 gone`])
  })

  test('is answered with 503 if the processor cannot be reached, so that it is repeated', async () => {
    isDown = true
    expect(await call(event('InvoiceReceivedPayment'))).toBe(503)
    expect(JSON.stringify(log.fields)).not.toContain('inner words')
    isDown = false
    methods = [{ amount: '0.00015530', payments: [payment()] }]
    expect(await call(event('InvoiceReceivedPayment', { isRedelivery: true }))).toBe(200)
    expect(book.lines()).toHaveLength(1)
  })

  test('for an unknown order is acknowledged and not recorded', async () => {
    methods = [{ amount: '0.00015530', payments: [payment()] }]
    orderId = anOrderId(99)
    expect(await call(event('InvoiceReceivedPayment'))).toBe(200)
    expect(book.lines()).toEqual([])
    expect(log.events).toEqual([['warn', 'payment_notification_refused']])
  })

  test('with invalid content is refused', async () => {
    const nonsense = [
      { metadata: { orderId: 7 } },
      { metadata: null },
      { invoiceId: '../../users' },
      { storeId: 'store2' },
    ]
    for (const changed of nonsense) expect(await call(event('InvoiceReceivedPayment', changed))).toBe(400)
    expect(await call('[]')).toBe(400)
    expect(api.asked).toEqual([])
  })

  test('about invalid amounts records nothing', async () => {
    const senseless: [string, string][] = [
      ['0', '1'],
      ['-1', '1'],
      ['1', '-1'],
      ['1', '1e999999999'],
      ['1', '１'],
    ]
    for (const [amount, value] of senseless) {
      methods = [{ amount, payments: [payment({ value })] }]
      expect(await call(event('InvoiceReceivedPayment'))).toBe(503)
    }
    expect(book.payments()).toEqual([])
  })

  test('that a payment was replaced by another retracts it', async () => {
    methods = [{ amount: '0.00015530', payments: [payment()] }]
    await call(event('InvoiceReceivedPayment'))
    methods = [
      { amount: '0.00015530', payments: [payment({ status: 'Invalid' }), payment({ id: 'f00e-0' })] },
    ]
    await call(event('InvoiceReceivedPayment'))
    expect(book.lines()).toEqual([
      `btcpay/${INVOICE}/f00d-0 10000000 gone`,
      `btcpay/${INVOICE}/f00e-0 10000000 seen`,
    ])
  })
})
