// NOWPayments: an invoice for each order, and its Instant Payment Notifications. The tests run it against a
// local server that acts the documented API; it has not been run against NOWPayments itself.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { OrderId } from '@sotto/protocol'
import * as v from 'valibot'
import type { OrderToOpen } from '../provider.ts'
import { millionthsOf, partOf, partOfRoundedUp, shareOf } from './webhook-decimal.ts'
import { Amount, parseJson, sortedJson, Written } from './webhook-json.ts'
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
} from './webhook-processor.ts'

const Invoice = v.object({ id: Written, invoice_url: HostedPage })

const PaymentId = v.pipe(Written, v.regex(/^[0-9]{1,20}$/))
const Payment = v.object({
  payment_id: PaymentId,
  payment_status: v.string(),
  order_id: OrderId,
  price_amount: Amount,
  price_currency: v.string(),
  pay_amount: v.nullish(Amount),
  actually_paid: v.nullish(Amount),
  updated_at: v.nullish(Written),
})
type Payment = v.InferOutput<typeof Payment>
const Notification = v.object({ ...Payment.entries, parent_payment_id: v.nullish(PaymentId) })

/**
 * The meaning of each status of a payment. A payment under way can still fail; the amount of a partial
 * payment does not change any more.
 */
const meanings: Readonly<Record<string, 'nothing' | 'under way' | 'final' | 'gone'>> = {
  waiting: 'nothing',
  confirming: 'under way',
  confirmed: 'under way',
  sending: 'under way',
  partially_paid: 'final',
  finished: 'final',
  failed: 'gone',
  refunded: 'gone',
  expired: 'gone',
}

/** A notification has about 25 members. */
const MOST_STRUCTURAL = 500

/** See {@link Processor}. */
export class NowPayments implements Processor {
  readonly name = 'nowpayments'
  /** A notification has about 1 KiB. */
  readonly mostBodyBytes = 16_384
  readonly #config: ProcessorConfig
  readonly #parts: ProcessorParts

  constructor(config: ProcessorConfig, parts: ProcessorParts) {
    this.#config = config
    this.#parts = parts
  }

  async open({ orderId, price, title }: OrderToOpen): Promise<Opened> {
    const { apiUrl, callbackUrl } = this.#config
    const invoice = {
      price_amount: price,
      price_currency: 'usd',
      order_id: orderId,
      order_description: title,
      ipn_callback_url: callbackUrl,
    }
    const asked = { method: 'POST', headers: this.#headers(), body: JSON.stringify(invoice) } as const
    // The API key alone gives no access to an invoice's payments, only to single payments by their ids.
    return { page: (await ask(`${apiUrl}/v1/invoice`, asked, Invoice)).invoice_url }
  }

  signatureOf(headers: Headers): string | undefined {
    return /^[0-9a-f]{128}$/i.exec(headers.get('x-nowpayments-sig') ?? '')?.[0]
  }

  // The signature covers the body with its keys sorted, not the bytes. So the body must be parsed first, and
  // anybody can send one: its size and its number of values are bounded. Later only the text whose signature
  // is right is read.
  signedText(body: Uint8Array, signature: string): string | undefined {
    const value = parseJson(Buffer.from(body).toString('utf8'), MOST_STRUCTURAL)
    if (value === undefined) return undefined
    // The documentation writes numbers as JavaScript does. They are usually sent in that form, so both
    // candidates are usually equal.
    const candidates = [sortedJson(value), sortedJson(value, (number) => JSON.stringify(Number(number)))]
    return [...new Set(candidates)].find((text) => {
      const right = createHmac('sha512', this.#config.secret).update(text).digest()
      return timingSafeEqual(right, Buffer.from(signature, 'hex'))
    })
  }

  async read(signed: string): Promise<Report> {
    const payment = readNotification(Notification, signed)
    const isFurtherDeposit = payment.parent_payment_id != null
    const report = this.#reportOf(payment, isFurtherDeposit)
    // A payment that is looked up does not say whether it is a further deposit, and would count as a whole
    // one. So further deposits are not looked up.
    return isFurtherDeposit
      ? report
      : { ...report, ask: { name: payment.payment_id, orderId: payment.order_id } }
  }

  async lookUp(name: string): Promise<Report> {
    const signal = this.#parts.stopping
    const asked = { method: 'GET', headers: this.#headers(), signal } as const
    const payment = await ask(`${this.#config.apiUrl}/v1/payment/${name}`, asked, Payment)
    if (payment.payment_id !== name) throw new InvalidReport('payment_id')
    return this.#reportOf(payment, false)
  }

  #reportOf(payment: Payment, isFurtherDeposit: boolean): Report {
    const reference = `${this.name}/${payment.payment_id}`
    const meaning = meanings[payment.payment_status]
    if (meaning === undefined) {
      this.#parts.log.warn('payment_status_unknown', {
        reason: 'NOWPayments sent a status that is not documented',
      })
    }
    if (meaning === 'gone') return { seen: [], gone: [reference] }
    if (meaning === undefined || meaning === 'nothing') return { seen: [], gone: [] }
    const amount = amountOf(payment, isFurtherDeposit)
    if (amount === 0n) return { seen: [], gone: [] }
    const seen = { reference, amount, at: this.#timeOf(payment), isFinal: meaning === 'final' }
    return { seen: [paymentSeen(payment.order_id, seen)], gone: [] }
  }

  #headers(): Record<string, string> {
    return { 'x-api-key': this.#config.apiKey }
  }

  // The time of paying is not reported; the payment's last change is the best estimate.
  #timeOf({ updated_at: updatedAt }: Payment): number {
    const now = this.#parts.clock.now()
    const at = updatedAt && /^[0-9]{13}$/.test(updatedAt) ? Number(updatedAt) : Date.parse(updatedAt ?? '')
    return at > 0 && at < now ? at : now
  }
}

// The payment may be in any coin: its share of the amount due in that coin is its share of the price.
function amountOf(payment: Payment, isFurtherDeposit: boolean): bigint {
  if (payment.price_currency.toLowerCase() !== 'usd') throw new InvalidReport('price_currency')
  const price = millionthsOf(payment.price_amount)
  if (price <= 0n) throw new InvalidReport('price_amount')
  const { pay_amount: asked, actually_paid: paid } = payment
  if (asked && asked.digits <= 0n) throw new InvalidReport('pay_amount')
  if (paid && paid.digits < 0n) throw new InvalidReport('actually_paid')
  const share = asked && paid ? shareOf(paid, asked) : { numerator: 0n, denominator: 1n }
  // A further deposit to the same address counts in addition to the first. The first is rounded down, so this
  // one is rounded up; otherwise a price paid in two parts would be short by a millionth.
  if (isFurtherDeposit) return partOfRoundedUp(price, share)
  const amount = partOf(price, share)
  // `finished` means that the processor accepts it as paid in full, within the operator's tolerance there.
  return payment.payment_status === 'finished' && amount < price ? price : amount
}
