// NOWPayments: an invoice for each order, and its Instant Payment Notifications. The relay's tests hold it to the
// documented interface, served by a server of their own; it has not been run against NOWPayments itself.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { OrderId } from '@sotto/protocol'
import * as v from 'valibot'
import type { OrderToOpen } from '../provider.ts'
import { millionthsOf, partOf, partOfRoundedUp, shareOf } from './webhook-decimal.ts'
import { Amount, parseJson, sortedJson, Written } from './webhook-json.ts'
import {
  ask,
  HostedPage,
  Nonsense,
  type Opened,
  type Processor,
  type ProcessorConfig,
  type ProcessorParts,
  paymentSeen,
  readNotification,
  type Told,
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

/** What each status says of the payment. A payment under way can still fail; one that fell short will not grow. */
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

/** See {@link Processor}. */
export class NowPayments implements Processor {
  readonly name = 'nowpayments'
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
    // What was paid for an invoice is told to nobody who has the API key alone; payments are, by their ids.
    return { page: (await ask(`${apiUrl}/v1/invoice`, asked, Invoice)).invoice_url }
  }

  signatureOf(headers: Headers): string | undefined {
    return /^[0-9a-f]{128}$/i.exec(headers.get('x-nowpayments-sig') ?? '')?.[0]
  }

  // The signature is over the body with its keys in order, not over the bytes, so they have to be taken apart for it;
  // what fits is what is read then, and nothing else of them.
  signedText(body: Uint8Array, signature: string): string | undefined {
    const value = parseJson(Buffer.from(body).toString('utf8'))
    if (value === undefined) return undefined
    // Documented is to write the numbers as JavaScript does. That is how they are sent, so mostly the two are one.
    const candidates = [sortedJson(value), sortedJson(value, (number) => JSON.stringify(Number(number)))]
    return candidates.find((text) => {
      const right = createHmac('sha512', this.#config.secret).update(text).digest()
      return timingSafeEqual(right, Buffer.from(signature, 'hex'))
    })
  }

  async read(signed: string): Promise<Told> {
    const payment = readNotification(Notification, signed)
    const isFurther = payment.parent_payment_id != null
    const told = this.#told(payment, isFurther)
    // Of a payment that is asked for it is not said whether it is a further one; they would be taken for whole ones.
    return isFurther ? told : { ...told, ask: { name: payment.payment_id, orderId: payment.order_id } }
  }

  async look(name: string): Promise<Told> {
    const signal = this.#parts.stopping
    const asked = { method: 'GET', headers: this.#headers(), signal } as const
    const payment = await ask(`${this.#config.apiUrl}/v1/payment/${name}`, asked, Payment)
    if (payment.payment_id !== name) throw new Nonsense('payment_id')
    return this.#told(payment, false)
  }

  #told(payment: Payment, isFurther: boolean): Told {
    const reference = `${this.name}/${payment.payment_id}`
    const meaning = meanings[payment.payment_status]
    if (meaning === undefined) {
      this.#parts.log.warn('payment_status_unknown', {
        reason: 'NOWPayments sent a status that is not documented',
      })
    }
    if (meaning === 'gone') return { seen: [], gone: [reference] }
    if (meaning === undefined || meaning === 'nothing') return { seen: [], gone: [] }
    const amount = amountOf(payment, isFurther)
    if (amount === 0n) return { seen: [], gone: [] }
    const seen = { reference, amount, at: this.#timeOf(payment), isFinal: meaning === 'final' }
    return { seen: [paymentSeen(payment.order_id, seen)], gone: [] }
  }

  #headers(): Record<string, string> {
    return { 'x-api-key': this.#config.apiKey }
  }

  // When the payer paid is not said; the last change of the payment is the nearest to it.
  #timeOf({ updated_at: told }: Payment): number {
    const now = this.#parts.clock.now()
    const at = told && /^[0-9]{13}$/.test(told) ? Number(told) : Date.parse(told ?? '')
    return at > 0 && at < now ? at : now
  }
}

// Whatever coin it was paid in: the share of what was asked for in that coin is the share of the price.
function amountOf(told: Payment, isFurther: boolean): bigint {
  if (told.price_currency.toLowerCase() !== 'usd') throw new Nonsense('price_currency')
  const price = millionthsOf(told.price_amount)
  if (price <= 0n) throw new Nonsense('price_amount')
  const { pay_amount: asked, actually_paid: paid } = told
  if (asked && asked.digits <= 0n) throw new Nonsense('pay_amount')
  if (paid && paid.digits < 0n) throw new Nonsense('actually_paid')
  const share = asked && paid ? shareOf(paid, asked) : { numerator: 0n, denominator: 1n }
  // A further deposit on the same address counts beside the first. It is rounded up where the first is rounded down, or what was
  // paid in two parts would be short by a millionth.
  if (isFurther) return partOfRoundedUp(price, share)
  const amount = partOf(price, share)
  // `finished` is the processor's word that it was paid in full, within what the operator tolerates there.
  return told.payment_status === 'finished' && amount < price ? price : amount
}
