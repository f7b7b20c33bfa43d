// What no notification told is asked for: by name, often while it is new, and an order waits until it is known.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type LedgerWorld, openLedgerWorld } from '../../../test/ledger-world.ts'
import { type Asked, type LocalHttp, serveLocally } from '../../../test/local-http.ts'
import { clockAt } from '../../../test/mailbox-world.ts'
import { eventually, recordingLog } from '../../../test/payment-watch.ts'
import type { Order } from '../order.ts'
import { WebhookPayments } from './webhook.ts'

const MINUTE_MS = 60_000
const SECRET = 'hush'
const pace = { roundMs: 5, betweenMs: 1, againMs: MINUTE_MS }

let clock: ReturnType<typeof clockAt>
let book: LedgerWorld
let log: ReturnType<typeof recordingLog>
let api: LocalHttp
let answer: (asked: Asked) => Response
let provider: WebhookPayments

beforeEach(async () => {
  clock = clockAt(1_800_000_000_000)
  book = await openLedgerWorld(clock)
  log = recordingLog()
  api = serveLocally((asked) => answer(asked))
})
afterEach(async () => {
  await provider.stop()
  await book.close()
  api[Symbol.dispose]()
})

/** As a relay that starts: what ran before is stopped. */
async function start(processor: 'btcpay' | 'nowpayments'): Promise<void> {
  const config = { processor, apiUrl: api.url, apiKey: 'the-key', secret: SECRET, store: 'store1' } as const
  provider = new WebhookPayments(config, new URL('https://relay.example'), { clock, log: log.log, pace })
  await provider.start(book.ledger)
}

/** How often something was asked for. */
const count = (path: string): number => api.asked.filter((asked) => asked.path === path).length

async function rounds(path: string): Promise<void> {
  const before = count(path)
  await eventually(() => expect(count(path)).toBeGreaterThan(before))
}

describe('a BTCPay Server', () => {
  const invoicePath = (number: number): string => `/api/v1/stores/store1/invoices/inv${number}`
  let invoices: { orderId: string; status: string; payments: object[] }[]
  let isDown: boolean

  beforeEach(async () => {
    invoices = []
    isDown = false
    answer = ({ method, path, body }) => {
      if (isDown) return new Response(null, { status: 502 })
      if (method === 'POST') {
        invoices.push({ orderId: JSON.parse(body).metadata.orderId, status: 'New', payments: [] })
        const id = `inv${invoices.length - 1}`
        return Response.json({ id, checkoutLink: `https://pay.example/i/${id}` })
      }
      const found = invoices[Number(/\/inv(\d+)/.exec(path)?.[1])]
      if (!found) return new Response(null, { status: 404 })
      const { orderId, status, payments } = found
      return path.includes('/payment-methods')
        ? Response.json([{ amount: '10', payments }])
        : Response.json({
            status,
            additionalStatus: 'None',
            amount: '10',
            currency: 'USD',
            metadata: { orderId },
          })
    }
    await start('btcpay')
    clock.advance(10 * MINUTE_MS)
  })

  const paid = { id: 'p', value: '10', status: 'Settled', receivedDate: 1_800_000_000 }
  const settle = (number: number): void => {
    const invoice = invoices[number]
    if (invoice) Object.assign(invoice, { status: 'Settled', payments: [paid] })
  }

  test('that told of no payment is found out, and the order confirmed', async () => {
    const order = await book.place(provider, 10)
    clock.advance(MINUTE_MS)
    await rounds(invoicePath(0))
    expect(book.status(order)).toBe('pending')
    settle(0)
    clock.advance(MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines()).toEqual(['btcpay/inv0/p 10000000 final'])
  })

  test('is asked for everything when the relay starts, whatever happened meanwhile', async () => {
    const order = await book.place(provider, 10)
    await provider.stop()
    settle(0)
    await start('btcpay')
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
  })

  test('is asked less often the older an invoice is, and no more after eight days', async () => {
    await book.place(provider, 10)
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.advance(MINUTE_MS)
      await settled()
    }
    const first = count(invoicePath(0))
    expect(first).toBeGreaterThan(10)
    expect(first).toBeLessThan(20)
    clock.advance(9 * 24 * 60 * MINUTE_MS)
    await settled()
    expect(count(invoicePath(0))).toBe(first)
  })

  test('that cannot be reached keeps orders from expiring, and is complained of once', async () => {
    const order = await book.place(provider, 10)
    await settled()
    const known = provider.seenUntil(clock.now())
    isDown = true
    clock.advance(10 * MINUTE_MS)
    await rounds(invoicePath(0))
    await rounds(invoicePath(0))
    expect(provider.seenUntil(clock.now())).toBe(known)
    settle(0)
    isDown = false
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    await settled()
    expect(log.events).toEqual([
      ['warn', 'payments_unreachable'],
      ['info', 'payments_reachable_again'],
    ])
  })

  test('that knows nothing of one invoice is asked for the others, and holds nothing up', async () => {
    await book.place(provider, 10)
    const order = await book.place(provider, 10)
    Object.assign(invoices, { 0: undefined })
    settle(1)
    clock.advance(10 * MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    await settled()
    expect(log.events).toEqual([['warn', 'payments_answer_refused']])
  })

  test('that does not answer is not waited for when the relay stops', async () => {
    await book.place(provider, 10)
    answer = () => new Promise<never>(() => undefined) as never
    clock.advance(MINUTE_MS)
    await rounds(invoicePath(0))
    await provider.stop()
    expect(log.events).toEqual([])
  })

  /** Resolves once a round that began at this moment is complete. */
  function settled(): Promise<void> {
    return eventually(() => expect(provider.seenUntil(clock.now())).toBe(clock.now() - 2 * MINUTE_MS))
  }
})

describe('NOWPayments', () => {
  let order: Order
  let status: string

  beforeEach(async () => {
    status = 'waiting'
    answer = ({ method, path }) => {
      if (method === 'POST') return Response.json({ id: '7', invoice_url: 'https://pay.example/?iid=7' })
      const payment = { price_amount: 6, price_currency: 'usd', pay_amount: 3, actually_paid: 3 }
      const id = Number(path.split('/').at(-1))
      return Response.json({ ...payment, payment_id: id, payment_status: status, order_id: order.order_id })
    }
    await start('nowpayments')
    order = await book.place(provider, 6)
  })

  async function tell(changed: object): Promise<number> {
    const payment = { actually_paid: 0, order_id: order.order_id, pay_amount: 3, payment_id: 51 }
    const rest = { payment_status: 'waiting', price_amount: 6, price_currency: 'usd' }
    const told = Object.entries({ ...payment, ...rest, ...changed }).sort(([a], [b]) => (a < b ? -1 : 1))
    const body = JSON.stringify(Object.fromEntries(told))
    const headers = { 'x-nowpayments-sig': createHmac('sha512', SECRET).update(body).digest('hex') }
    const request = new Request('https://relay.example/payments/webhook', { method: 'POST', headers, body })
    return (await provider.callback.answer(request)).status
  }

  test('is asked for a payment it named once, even if the relay was away when it was paid', async () => {
    expect(await tell({})).toBe(200)
    await provider.stop()
    status = 'finished'
    await start('nowpayments')
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines()).toEqual(['nowpayments/51 6000000 final'])
    expect(api.asked.at(-1)?.headers.get('x-api-key')).toBe('the-key')
  })

  test('is not asked for a further deposit, which would pass for a whole one, nor for orders of others', async () => {
    const part = { actually_paid: 1, payment_status: 'partially_paid', payment_id: 52, parent_payment_id: 51 }
    await tell(part)
    await tell({ order_id: `ord_${'x'.repeat(24)}`, payment_id: 53 })
    await tell({})
    status = 'finished'
    clock.advance(MINUTE_MS)
    await eventually(() => expect(book.lines()).toHaveLength(2))
    expect(book.lines()).toEqual(['nowpayments/52 2000000 final', 'nowpayments/51 6000000 final'])
    expect(api.asked.filter(({ method }) => method === 'GET').map(({ path }) => path)).toEqual([
      '/v1/payment/51',
    ])
  })
})
