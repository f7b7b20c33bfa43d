// Polling for payments whose notification did not arrive: each invoice by its id, often while it is new. An
// order stays open until the answer is known.
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

/** Starts the provider as a relay does. */
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
  /** How often the first invoice was requested. */
  const count = (): number => processor.http.asked.filter(({ path }) => path.endsWith('/invoice0')).length
  const polledAgain = async (): Promise<void> => {
    const before = count()
    await eventually(() => expect(count()).toBeGreaterThan(before))
  }
  /** Resolves once a round that began at this moment is complete. */
  const roundComplete = (): Promise<void> =>
    eventually(() => expect(provider.seenUntil(clock.now())).toBe(clock.now() - 2 * MINUTE_MS))

  test('whose notification was lost is polled, and the order confirmed', async () => {
    const order = await book.place(provider, 10)
    clock.advance(MINUTE_MS)
    await polledAgain()
    expect(book.status(order)).toBe('pending')
    settle(order)
    clock.advance(MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines()).toEqual(['btcpay/invoice0/f00d-0 10000000 final'])
  })

  test('is polled for everything when the relay starts', async () => {
    const order = await book.place(provider, 10)
    await provider.stop()
    settle(order)
    await start(processor)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
  })

  test('is polled less often the older an invoice is, and never after eight days', async () => {
    await book.place(provider, 10)
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.advance(MINUTE_MS)
      await roundComplete()
    }
    const first = count()
    expect(first).toBeGreaterThan(10)
    expect(first).toBeLessThan(20)
    clock.advance(9 * 24 * 60 * MINUTE_MS)
    await roundComplete()
    expect(count()).toBe(first)
  })

  test('that cannot be reached keeps orders from expiring, and is logged once', async () => {
    const order = await book.place(provider, 10)
    await roundComplete()
    const known = provider.seenUntil(clock.now())
    processor.isDown = true
    clock.advance(10 * MINUTE_MS)
    const before = processor.http.asked.length
    await eventually(() => expect(processor.http.asked.length).toBeGreaterThan(before + 2))
    expect(provider.seenUntil(clock.now())).toBe(known)
    settle(order)
    processor.isDown = false
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    await roundComplete()
    expect(log.events).toEqual([
      ['warn', 'payments_unreachable'],
      ['info', 'payments_reachable_again'],
    ])
  })

  test('that does not know one invoice is polled for the others, and delays nothing', async () => {
    await book.place(provider, 10)
    const order = await book.place(provider, 10)
    processor.invoices.delete('invoice0')
    settle(order)
    clock.advance(10 * MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    await roundComplete()
    expect(log.events).toEqual([['warn', 'payments_answer_refused']])
  })

  test('that does not answer does not delay stopping the relay', async () => {
    await book.place(provider, 10)
    processor.instead = () => new Promise(() => undefined)
    clock.advance(MINUTE_MS)
    await polledAgain()
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

  async function notify({ body, headers }: Notification): Promise<void> {
    const request = new Request('https://relay.example/payments/webhook', { method: 'POST', headers, body })
    expect((await provider.callback.answer(request)).status).toBe(200)
  }

  test('is polled for a payment that it reported once, even if the relay was away when it was paid', async () => {
    const payment = processor.choose(order.order_id)
    await notify(processor.notification(payment))
    await provider.stop()
    Object.assign(payment, { payment_status: 'finished', part: 1 })
    await start(processor)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines()).toEqual([`nowpayments/${payment.payment_id} 6000000 final`])
  })

  test('is not polled for further deposits, which would count as whole payments, or for unknown orders', async () => {
    const first = processor.choose(order.order_id)
    const further = processor.choose(order.order_id)
    await notify(processor.notification(first))
    Object.assign(further, { payment_status: 'finished', part: 0.5, parent_payment_id: first.payment_id })
    await notify(processor.notification(further))
    await notify(processor.notification(processor.choose(`ord_${'x'.repeat(24)}`)))
    Object.assign(first, { payment_status: 'partially_paid', part: 0.5 })
    clock.advance(MINUTE_MS)
    await eventually(() => expect(book.status(order)).toBe('confirmed'))
    expect(book.lines().map((line) => line.split(' ')[1])).toEqual(['3000000', '3000000'])
    const polls = processor.http.asked.filter(({ method }) => method === 'GET')
    expect(polls.map(({ path }) => path)).toEqual([`/v1/payment/${first.payment_id}`])
  })
})
