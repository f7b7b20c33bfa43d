// What no notification told is asked for: by name, often while it is new, and an order waits until it is known.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type LedgerWorld, openLedgerWorld } from '../../../test/ledger-world.ts'
import { clockAt } from '../../../test/mailbox-world.ts'
import { eventually, recordingLog } from '../../../test/payment-watch.ts'
import { BtcPayServer, type Notification, NowPaymentsServer } from '../../../test/processor-servers.ts'
import type { Order } from '../order.ts'
import type { paymentSettings } from '../payment-settings.ts'
import { WebhookPayments, webhookConfigOf } from './webhook.ts'

const MINUTE_MS = 60_000
const pace = { roundMs: 5, betweenMs: 1, againMs: MINUTE_MS }

let clock: ReturnType<typeof clockAt>
let book: LedgerWorld
let log: ReturnType<typeof recordingLog>
let provider: WebhookPayments

beforeEach(async () => {
  clock = clockAt(Date.now())
  book = await openLedgerWorld(clock)
  log = recordingLog()
})
afterEach(async () => {
  await provider.stop()
  await book.close()
})

/** As a relay that starts. */
async function start({ settings }: { settings: Record<string, string> }): Promise<void> {
  const config = webhookConfigOf((name: keyof typeof paymentSettings) => settings[name] ?? '')
  provider = new WebhookPayments(config, new URL('https://relay.example'), { clock, log: log.log, pace })
  await provider.start(book.ledger)
}

describe('a BTCPay Server', () => {
  let processor: BtcPayServer
  beforeEach(async () => {
    processor = new BtcPayServer()
    await start(processor)
    clock.advance(10 * MINUTE_MS)
  })
  afterEach(() => processor[Symbol.dispose]())

  const settle = ({ order_id }: Order): void => processor.pay(processor.invoiceOf(order_id), 'Settled')
  /** How often the first invoice was asked for. */
  const count = (): number => processor.http.asked.filter(({ path }) => path.endsWith('/invoice0')).length
  const askedAgain = async (): Promise<void> => {
    const before = count()
    await eventually(() => expect(count()).toBeGreaterThan(before))
  }
  /** Resolves once a round that began at this moment is complete. */
  const settled = (): Promise<void> =>
    eventually(() => expect(provider.seenUntil(clock.now())).toBe(clock.now() - 2 * MINUTE_MS))

  test('that told of no payment is found out, and the order confirmed', async () => {
    const order = await book.place(provider, 10)
    clock.advance(MINUTE_MS)
    await askedAgain()
    expect(book.status(order)).toBe('pending')
    settle(order)
    clock.advance(MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines()).toEqual(['btcpay/invoice0/f00d-0 10000000 final'])
  })

  test('is asked for everything when the relay starts, whatever happened meanwhile', async () => {
    const order = await book.place(provider, 10)
    await provider.stop()
    settle(order)
    await start(processor)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
  })

  test('is asked less often the older an invoice is, and no more after eight days', async () => {
    await book.place(provider, 10)
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.advance(MINUTE_MS)
      await settled()
    }
    const first = count()
    expect(first).toBeGreaterThan(10)
    expect(first).toBeLessThan(20)
    clock.advance(9 * 24 * 60 * MINUTE_MS)
    await settled()
    expect(count()).toBe(first)
  })

  test('that cannot be reached keeps orders from expiring, and is complained of once', async () => {
    const order = await book.place(provider, 10)
    await settled()
    const known = provider.seenUntil(clock.now())
    processor.isDown = true
    clock.advance(10 * MINUTE_MS)
    const before = processor.http.asked.length
    await eventually(() => expect(processor.http.asked.length).toBeGreaterThan(before + 2))
    expect(provider.seenUntil(clock.now())).toBe(known)
    settle(order)
    processor.isDown = false
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
    processor.invoices.delete('invoice0')
    settle(order)
    clock.advance(10 * MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    await settled()
    expect(log.events).toEqual([['warn', 'payments_answer_refused']])
  })

  test('that does not answer is not waited for when the relay stops', async () => {
    await book.place(provider, 10)
    processor.instead = () => new Promise(() => undefined)
    clock.advance(MINUTE_MS)
    await askedAgain()
    await provider.stop()
    expect(log.events).toEqual([])
  })
})

describe('NOWPayments', () => {
  let processor: NowPaymentsServer
  let order: Order
  beforeEach(async () => {
    processor = new NowPaymentsServer()
    await start(processor)
    order = await book.place(provider, 6)
  })
  afterEach(() => processor[Symbol.dispose]())

  async function tell({ body, headers }: Notification): Promise<void> {
    const request = new Request('https://relay.example/payments/webhook', { method: 'POST', headers, body })
    expect((await provider.callback.answer(request)).status).toBe(200)
  }

  test('is asked for a payment it named once, even if the relay was away when it was paid', async () => {
    const payment = processor.choose(order.order_id)
    await tell(processor.notification(payment))
    await provider.stop()
    Object.assign(payment, { payment_status: 'finished', part: 1 })
    await start(processor)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines()).toEqual([`nowpayments/${payment.payment_id} 6000000 final`])
  })

  test('is not asked for a further deposit, which would pass for a whole one, nor for orders of others', async () => {
    const first = processor.choose(order.order_id)
    const further = processor.choose(order.order_id)
    await tell(processor.notification(first))
    Object.assign(further, { payment_status: 'finished', part: 0.5, parent_payment_id: first.payment_id })
    await tell(processor.notification(further))
    await tell(processor.notification(processor.choose(`ord_${'x'.repeat(24)}`)))
    Object.assign(first, { payment_status: 'partially_paid', part: 0.5 })
    clock.advance(MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines().map((line) => line.split(' ')[1])).toEqual(['3000000', '3000000'])
    const looks = processor.http.asked.filter(({ method }) => method === 'GET')
    expect(looks.map(({ path }) => path)).toEqual([`/v1/payment/${first.payment_id}`])
  })
})
