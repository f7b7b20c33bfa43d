// BTCPay Server: an invoice for each order (Greenfield API), and its webhooks. The tests run it against a
// local server that acts the documented API; it has not been run against a real BTCPay Server.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { OrderId } from '@sotto/protocol'
import * as v from 'valibot'
import type { OrderToOpen, PaymentSeen } from '../provider.ts'
import type { BoundedRequest } from './bounded-request.ts'
import { type Decimal, millionthsOf, partOf, type Share, shareOf } from './webhook-decimal.ts'
import { Amount, Written } from './webhook-json.ts'
import {
  ask,
  HostedPage,
  InvalidReport,
  type Opened,
  type Processor,
  type ProcessorConfig,
  type ProcessorParts,
  paymentSeen,
  type Report,
  readNotification,
  UnusableAnswer,
} from './webhook-processor.ts'

const Id = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,200}$/))
const InvoiceId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/))
const Created = v.object({ id: InvoiceId, checkoutLink: HostedPage })

const Event = v.object({ type: v.string(), storeId: v.string() })
const Metadata = v.object({ orderId: OrderId })
const InvoiceEvent = v.object({ invoiceId: InvoiceId, metadata: Metadata })
/** The events after which the relay reads an invoice's payments. */
const paymentEvents = [
  ...['InvoiceReceivedPayment', 'InvoicePaymentSettled', 'InvoiceProcessing'],
  ...['InvoiceSettled', 'InvoiceExpired', 'InvoiceInvalid'],
]

const Invoice = v.object({
  status: v.string(),
  additionalStatus: v.nullish(v.string(), ''),
  amount: Amount,
  currency: v.string(),
  metadata: Metadata,
})
type Invoice = v.InferOutput<typeof Invoice>
const Payment = v.object({
  id: Id,
  receivedDate: v.pipe(Written, v.regex(/^[0-9]{1,11}$/), v.transform(Number)),
  value: Amount,
  status: v.picklist(['Invalid', 'Processing', 'Settled']),
})
const PaymentMethods = v.array(
  v.object({ amount: v.nullish(Amount), payments: v.nullish(v.array(Payment), []) }),
)
type Payment = v.InferOutput<typeof Payment>
type Paid = Payment & { readonly share: Share }

/** See {@link Processor}. */
export class BtcPay implements Processor {
  readonly name = 'btcpay'
  /** A notification quotes the invoice's metadata. */
  readonly mostBodyBytes = 65_536
  readonly #config: ProcessorConfig
  readonly #parts: ProcessorParts

  constructor(config: ProcessorConfig, parts: ProcessorParts) {
    this.#config = config
    this.#parts = parts
  }

  async open({ orderId, price, expiresAt, title }: OrderToOpen): Promise<Opened> {
    const minutes = Math.ceil((expiresAt - this.#parts.clock.now()) / 60_000)
    const invoice = {
      amount: price.toString(),
      currency: 'USD',
      metadata: { orderId, itemDesc: title },
      checkout: { expirationMinutes: Math.max(1, minutes) },
    }
    const asked = { method: 'POST', body: JSON.stringify(invoice) } as const
    const { id, checkoutLink } = await this.#ask('', asked, Created)
    return { page: checkoutLink, name: id }
  }

  signatureOf(headers: Headers): string | undefined {
    return /^sha256=(?<hex>[0-9a-f]{64})$/i.exec(headers.get('btcpay-sig') ?? '')?.groups?.hex
  }

  signedText(body: Uint8Array, signature: string): string | undefined {
    const right = createHmac('sha256', this.#config.secret).update(body).digest()
    const isRight = timingSafeEqual(right, Buffer.from(signature, 'hex'))
    return isRight ? Buffer.from(body).toString('utf8') : undefined
  }

  // A notification names a payment in its own coin without its value, and may arrive late or out of order. So
  // it only triggers a look-up: the relay reads everything the invoice has received by now, and reports all
  // of it.
  async read(signed: string): Promise<Report> {
    const { type, storeId } = readNotification(Event, signed)
    if (storeId !== this.#config.store) throw new InvalidReport('storeId')
    if (!paymentEvents.includes(type)) return { seen: [], gone: [] }
    return await this.lookUp(readNotification(InvoiceEvent, signed).invoiceId)
  }

  async lookUp(name: string): Promise<Report> {
    const asked = { method: 'GET' } as const
    const invoice = await this.#ask(`/${name}`, asked, Invoice)
    // By default BTCPay Server leaves out payments that came to nothing.
    const path = `/${name}/payment-methods?onlyAccountedPayments=false`
    const methods = await this.#ask(path, asked, PaymentMethods)
    if (invoice.currency.toUpperCase() !== 'USD' || millionthsOf(invoice.amount) <= 0n)
      throw new InvalidReport('the invoice’s amount')

    const payments = methods.flatMap(({ amount, payments }) =>
      payments.map((payment) => withShare(payment, amount)),
    )
    const reference = ({ id }: Payment): string => `${this.name}/${name}/${id}`
    const valid = payments.filter((payment) => isValid(payment, invoice.status))
    const invalid = payments.filter((payment) => !valid.includes(payment))
    return { seen: this.#seen(invoice, valid, reference), gone: invalid.map(reference) }
  }

  #seen(
    { status, additionalStatus, amount: price, metadata }: Invoice,
    payments: readonly Paid[],
    reference: (payment: Payment) => string,
  ): PaymentSeen[] {
    const isFull = status === 'Processing' || status === 'Settled' || additionalStatus === 'PaidLate'
    // An open invoice may still receive more. A payment is final only after its invoice has ended.
    const isOver = status !== 'New' && status !== 'Processing'
    const amounts = amountsOf(payments.toSorted(byTime), millionthsOf(price), isFull)
    return [...amounts].map(([payment, amount]) => {
      const at = Math.min(payment.receivedDate * 1000, this.#parts.clock.now())
      const isFinal = isOver && payment.status === 'Settled'
      return paymentSeen(metadata.orderId, { reference: reference(payment), amount, at, isFinal })
    })
  }

  #ask<T>(
    path: string,
    asked: Pick<BoundedRequest, 'method' | 'body'>,
    schema: v.GenericSchema<unknown, T>,
  ): Promise<T> {
    const { apiUrl, apiKey, store } = this.#config
    const headers = { authorization: `token ${apiKey}` }
    return ask(
      `${apiUrl}/api/v1/stores/${encodeURIComponent(store)}/invoices${path}`,
      { ...asked, headers, signal: this.#parts.stopping },
      schema,
    )
  }
}

function withShare(payment: Payment, asked: Decimal | null | undefined): Paid {
  if (!asked || asked.digits <= 0n || payment.value.digits < 0n) {
    throw new UnusableAnswer('its amounts are not valid')
  }
  return { ...payment, share: shareOf(payment.value, asked) }
}

// An invoice becomes invalid if its payments did not confirm in time.
function isValid({ status }: Payment, invoiceStatus: string): boolean {
  return status === 'Settled' || (status === 'Processing' && invoiceStatus !== 'Invalid')
}

function byTime(one: Payment, other: Payment): number {
  return one.receivedDate - other.receivedDate || (one.id < other.id ? -1 : 1)
}

// Payments may be in different coins. A payment's share of the amount due in its coin is its share of the
// price, rounded down. If the processor says that everything is paid (it rounds too, and the operator may
// allow a small tolerance there), the last payment gets the rest.
function amountsOf(payments: readonly Paid[], price: bigint, isFull: boolean): Map<Payment, bigint> {
  const amounts = new Map<Payment, bigint>()
  let before = 0n
  for (const [index, payment] of payments.entries()) {
    const part = partOf(price, payment.share)
    const isShort = isFull && index === payments.length - 1 && before + part < price
    amounts.set(payment, isShort ? price - before : part)
    before += part
  }
  return amounts
}
