// The parts of payment processors' documented HTTP interfaces that the relay uses: invoices that tests pay,
// and notifications with the processors' signatures.
import { createHmac } from 'node:crypto'
import { type Asked, type LocalHttp, serveLocally } from './local-http.ts'

const SECRET = 'the-secret'

/** The body and the signature header of a notification. */
export interface Notification {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends a notification to the relay. @returns the status of its answer */
export async function notify(relayUrl: string, { body, headers }: Notification): Promise<number> {
  const url = `${relayUrl}/payments/webhook`
  return (await fetch(url, { method: 'POST', body, headers })).status
}

interface NowPayment {
  readonly payment_id: number
  readonly order_id: string
  payment_status: string
  /** The fraction of the price that arrived. */
  part: number
}

/** A server with the interface of NOWPayments. */
export class NowPaymentsServer implements Disposable {
  readonly http: LocalHttp
  readonly payments = new Map<number, NowPayment>()
  readonly #invoices: Record<string, unknown>[] = []

  constructor() {
    this.http = serveLocally((asked) => this.#answer(asked))
  }

  /** Settings of a relay that uses it. */
  get settings(): Record<string, string> {
    const secrets = { WEBHOOK_API_KEY: 'the-key', WEBHOOK_SECRET: SECRET }
    return {
      PAYMENTS: 'webhook',
      WEBHOOK_PROCESSOR: 'nowpayments',
      WEBHOOK_API_URL: this.http.url,
      ...secrets,
    }
  }

  /**
   * A buyer chooses a coin on the page of an invoice. The price in that coin is half the price in dollars.
   */
  choose(orderId: string): NowPayment {
    const payment_id = 5_077_125_050 + this.payments.size
    const payment = { payment_id, order_id: orderId, payment_status: 'waiting', part: 0 }
    this.payments.set(payment_id, payment)
    return payment
  }

  /** The notification for the current state of a payment. */
  notification(payment: NowPayment, secret = SECRET): Notification {
    const all = {
      parent_payment_id: null,
      ...this.#fieldsOf(payment),
      invoice_id: 1,
      fee: { depositFee: 0, currency: 'sol' },
    }
    // The fields are sent in any order; the signature is over the fields sorted by key at every depth.
    const sorted = JSON.stringify(all, Object.keys({ ...all, ...all.fee }).sort())
    const signature = createHmac('sha512', secret).update(sorted).digest('hex')
    return { body: JSON.stringify(all, null, 1), headers: { 'x-nowpayments-sig': signature } }
  }

  [Symbol.dispose](): void {
    this.http[Symbol.dispose]()
  }

  #fieldsOf({ part, ...payment }: NowPayment) {
    const invoice = this.#invoices.find(({ order_id }) => order_id === payment.order_id)
    const price = Number(invoice?.price_amount ?? 20)
    const prices = { price_amount: price, price_currency: 'usd', pay_amount: price / 2, pay_currency: 'sol' }
    const actually_paid = (price / 2) * part
    return { ...payment, ...prices, actually_paid, updated_at: new Date().toISOString() }
  }

  #answer({ method, path, body, headers }: Asked): Response {
    if (headers.get('x-api-key') !== 'the-key') return new Response(null, { status: 403 })
    if (method === 'POST' && path === '/v1/invoice') {
      this.#invoices.push(JSON.parse(body))
      const id = (4_522_625_000 + this.#invoices.length).toString()
      return Response.json({ id, invoice_url: `https://nowpayments.io/payment/?iid=${id}` })
    }
    const payment = this.payments.get(Number(/^\/v1\/payment\/(\d+)$/.exec(path)?.[1]))
    return payment
      ? Response.json(this.#fieldsOf(payment))
      : Response.json({ code: 'NOT_FOUND' }, { status: 404 })
  }
}

interface BtcPayInvoice {
  readonly id: string
  readonly orderId: string
  readonly amount: string
  status: 'New' | 'Processing' | 'Settled' | 'Expired' | 'Invalid'
  payments: { id: string; value: string; status: string; receivedDate: number }[]
}

/** A server with the interface of BTCPay Server. */
export class BtcPayServer implements Disposable {
  readonly http: LocalHttp
  readonly invoices = new Map<string, BtcPayInvoice>()
  isDown = false
  /** Overrides an answer if it returns one. */
  instead: (asked: Asked) => Promise<Response> | undefined = () => undefined

  constructor() {
    this.http = serveLocally((asked) => this.instead(asked) ?? this.#answer(asked))
  }

  /** Settings of a relay that uses it. */
  get settings(): Record<string, string> {
    const secrets = { WEBHOOK_API_KEY: 'the-key', WEBHOOK_SECRET: SECRET, WEBHOOK_STORE: 'store1' }
    return { PAYMENTS: 'webhook', WEBHOOK_PROCESSOR: 'btcpay', WEBHOOK_API_URL: this.http.url, ...secrets }
  }

  /** The invoice of an order. */
  invoiceOf(orderId: string): BtcPayInvoice {
    const invoice = [...this.invoices.values()].find((one) => one.orderId === orderId)
    if (!invoice) throw new Error('no invoice was requested for this order')
    return invoice
  }

  /** The full price arrives; the status tells whether the payment is settled. */
  pay(invoice: BtcPayInvoice, status: 'Processing' | 'Settled'): void {
    const payment = {
      id: 'f00d-0',
      value: invoice.amount,
      status,
      receivedDate: Math.floor(Date.now() / 1000),
    }
    invoice.payments = [payment]
    invoice.status = status
  }

  notification({ id, orderId }: BtcPayInvoice, type: string, secret = SECRET): Notification {
    const event = { type, storeId: 'store1', invoiceId: id, metadata: { orderId } }
    const body = JSON.stringify({ deliveryId: 'D1', isRedelivery: false, ...event })
    return {
      body,
      headers: { 'btcpay-sig': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` },
    }
  }

  [Symbol.dispose](): void {
    this.http[Symbol.dispose]()
  }

  #answer({ method, path, body, headers }: Asked): Response {
    if (this.isDown) return new Response('inner words', { status: 502 })
    if (headers.get('authorization') !== 'token the-key') return new Response(null, { status: 401 })
    const invoices = '/api/v1/stores/store1/invoices'
    if (method === 'POST' && path === invoices) {
      const { amount, metadata } = JSON.parse(body)
      const id = `invoice${this.invoices.size}`
      this.invoices.set(id, { id, orderId: metadata.orderId, amount, status: 'New', payments: [] })
      return Response.json({ id, checkoutLink: `https://pay.example/i/${id}` })
    }
    const [, id = '', rest] = /^\/(\w+)(\/payment-methods)?/.exec(path.slice(invoices.length)) ?? []
    const invoice = this.invoices.get(id)
    if (!invoice) return Response.json({ code: 'invoice-not-found' }, { status: 404 })
    const { amount, status, payments, orderId } = invoice
    if (rest !== undefined) return Response.json([{ paymentMethodId: 'BTC-CHAIN', amount, payments }])
    return Response.json({
      id,
      status,
      additionalStatus: 'None',
      amount,
      currency: 'USD',
      metadata: { orderId },
    })
  }
}
