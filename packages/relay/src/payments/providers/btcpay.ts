// BTCPay Server: an invoice for each order (Greenfield API), and its webhooks. The relay's tests hold it to the
// documented interface, served by a server of their own; it has not been run against a BTCPay Server.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { OrderId } from '@sotto/protocol'
import * as v from 'valibot'
import type { OrderToOpen, PaymentSeen } from '../provider.ts'
import { type BoundedRequest, Unreachable } from './bounded-request.ts'
import { addShares, type Decimal, millionthsOf, partOf, type Share, shareOf } from './webhook-decimal.ts'
import { Amount, Written } from './webhook-json.ts'
import {
  ask,
  HostedPage,
  Nonsense,
  type Processor,
  type ProcessorConfig,
  type ProcessorParts,
  paymentSeen,
  readNotification,
  type Told,
} from './webhook-processor.ts'

const Id = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,200}$/))
const InvoiceId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/))
const Opened = v.object({ id: InvoiceId, checkoutLink: HostedPage })

const Event = v.object({ type: v.string(), storeId: v.string() })
const InvoiceEvent = v.object({ invoiceId: InvoiceId, metadata: v.object({ orderId: OrderId }) })
/** The events after which an invoice's payments are looked at. */
const telling = [
  ...['InvoiceReceivedPayment', 'InvoicePaymentSettled', 'InvoiceProcessing'],
  ...['InvoiceSettled', 'InvoiceExpired', 'InvoiceInvalid'],
]

const Invoice = v.object({ status: v.string(), amount: Amount, currency: v.string() })
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
  readonly #config: ProcessorConfig
  readonly #parts: ProcessorParts

  constructor(config: ProcessorConfig, parts: ProcessorParts) {
    this.#config = config
    this.#parts = parts
  }

  async open({ orderId, price, expiresAt, title }: OrderToOpen): Promise<string> {
    const minutes = Math.ceil((expiresAt - this.#parts.clock.now()) / 60_000)
    const invoice = {
      amount: price.toString(),
      currency: 'USD',
      metadata: { orderId, itemDesc: title },
      checkout: { expirationMinutes: Math.max(1, minutes) },
    }
    const asked = { method: 'POST', body: JSON.stringify(invoice) } as const
    return (await this.#ask('', asked, Opened)).checkoutLink
  }

  signedText(body: Uint8Array, headers: Headers): string | undefined {
    const given = /^sha256=(?<hex>[0-9a-f]{64})$/i.exec(headers.get('btcpay-sig') ?? '')?.groups?.hex
    if (given === undefined) return undefined
    const right = createHmac('sha256', this.#config.secret).update(body).digest()
    return timingSafeEqual(right, Buffer.from(given, 'hex')) ? Buffer.from(body).toString('utf8') : undefined
  }

  // A notification names a payment in its own coin without saying what that is worth, and may come late or out of order.
  // So it is only the doorbell: what the invoice has received by now is asked for, and all of it told.
  async read(signed: string): Promise<Told> {
    const { type, storeId } = readNotification(Event, signed)
    if (storeId !== this.#config.store) throw new Nonsense('storeId')
    if (!telling.includes(type)) return { seen: [], gone: [] }
    const { invoiceId, metadata } = readNotification(InvoiceEvent, signed)
    const asked = { method: 'GET' } as const
    const invoice = await this.#ask(`/${invoiceId}`, asked, Invoice)
    const methods = await this.#ask(`/${invoiceId}/payment-methods`, asked, PaymentMethods)
    const price = millionthsOf(invoice.amount)
    if (invoice.currency.toUpperCase() !== 'USD' || price <= 0n) throw new Nonsense('the invoice’s amount')

    const payments = methods.flatMap(({ amount, payments }) =>
      payments.map((payment) => withShare(payment, amount)),
    )
    const reference = ({ id }: Payment): string => `btcpay/${invoiceId}/${id}`
    const standing = payments.filter((payment) => isStanding(payment, invoice.status))
    const fallen = payments.filter((payment) => !standing.includes(payment))
    return {
      seen: this.#seen(metadata.orderId, standing, { ...invoice, price }, reference),
      gone: fallen.map(reference),
    }
  }

  #seen(
    orderId: OrderId,
    payments: readonly Paid[],
    { status, price }: { status: string; price: bigint },
    reference: (payment: Payment) => string,
  ): PaymentSeen[] {
    const isFull = status === 'Processing' || status === 'Settled'
    // An invoice that is still open may get more: only what became of it ends a payment.
    const isOver = status !== 'New' && status !== 'Processing'
    const amounts = amountsOf(payments.toSorted(byTime), price, isFull)
    return [...amounts].map(([payment, amount]) => {
      const at = Math.min(payment.receivedDate * 1000, this.#parts.clock.now())
      const isFinal = isOver && payment.status === 'Settled'
      return paymentSeen(orderId, { reference: reference(payment), amount, at, isFinal })
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
      { ...asked, headers },
      schema,
    )
  }
}

function withShare(payment: Payment, asked: Decimal | null | undefined): Paid {
  if (!asked || asked.digits <= 0n || payment.value.digits < 0n) {
    throw new Unreachable('its amounts make no sense')
  }
  return { ...payment, share: shareOf(payment.value, asked) }
}

// An invoice becomes invalid where what was paid did not confirm in time.
function isStanding({ status }: Payment, invoiceStatus: string): boolean {
  return status === 'Settled' || (status === 'Processing' && invoiceStatus !== 'Invalid')
}

function byTime(one: Payment, other: Payment): number {
  return one.receivedDate - other.receivedDate || (one.id < other.id ? -1 : 1)
}

// Whatever coin each was paid in: its share of what was asked for in that coin is its share of the price. The sum is
// rounded down and not each by itself, or what was paid in two parts would be short by a millionth. Where the processor
// says that all is paid (it rounds too, and the operator may tolerate a little there), the last one has the rest.
function amountsOf(payments: readonly Paid[], price: bigint, isFull: boolean): Map<Payment, bigint> {
  const amounts = new Map<Payment, bigint>()
  let shares: Share = { numerator: 0n, denominator: 1n }
  let before = 0n
  for (const [index, payment] of payments.entries()) {
    shares = addShares(shares, payment.share)
    const sum = partOf(price, shares)
    const isShort = isFull && index === payments.length - 1 && sum < price
    amounts.set(payment, (isShort ? price : sum) - before)
    before = sum
  }
  return amounts
}
