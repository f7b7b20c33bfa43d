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
  type Processor,
  type ProcessorConfig,
  type ProcessorParts,
  paymentSeen,
  readNotification,
  type Told,
} from './webhook-processor.ts'

const Invoice = v.object({ id: Written, invoice_url: HostedPage })

const PaymentId = v.pipe(Written, v.regex(/^[0-9]{1,20}$/))
const Notification = v.object({
  payment_id: PaymentId,
  parent_payment_id: v.nullish(PaymentId),
  payment_status: v.string(),
  order_id: OrderId,
  price_amount: Amount,
  price_currency: v.string(),
  pay_amount: v.nullish(Amount),
  actually_paid: v.nullish(Amount),
  updated_at: v.nullish(Written),
})
type Notification = v.InferOutput<typeof Notification>

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
  readonly #config: ProcessorConfig
  readonly #parts: ProcessorParts

  constructor(config: ProcessorConfig, parts: ProcessorParts) {
    this.#config = config
    this.#parts = parts
  }

  async open({ orderId, price, title }: OrderToOpen): Promise<string> {
    const { apiUrl, apiKey, callbackUrl } = this.#config
    const invoice = {
      price_amount: price,
      price_currency: 'usd',
      order_id: orderId,
      order_description: title,
      ipn_callback_url: callbackUrl,
    }
    const asked = {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify(invoice),
    } as const
    return (await ask(`${apiUrl}/v1/invoice`, asked, Invoice)).invoice_url
  }

  // The signature is over the body with its keys in order, not over the bytes, so they have to be taken apart for it;
  // what fits is what is read then, and nothing else of them.
  signedText(body: Uint8Array, headers: Headers): string | undefined {
    const given = headers.get('x-nowpayments-sig') ?? ''
    const value = parseJson(Buffer.from(body).toString('utf8'))
    if (!/^[0-9a-f]{128}$/i.test(given) || value === undefined) return undefined
    // Documented is to write the numbers as JavaScript does. That is how they are sent, so mostly the two are one.
    const candidates = [sortedJson(value), sortedJson(value, (number) => JSON.stringify(Number(number)))]
    return candidates.find((text) => {
      const right = createHmac('sha512', this.#config.secret).update(text).digest()
      return timingSafeEqual(right, Buffer.from(given, 'hex'))
    })
  }

  async read(signed: string): Promise<Told> {
    const told = readNotification(Notification, signed)
    const reference = `nowpayments/${told.payment_id}`
    const meaning = meanings[told.payment_status]
    if (meaning === undefined) {
      this.#parts.log.warn('payment_status_unknown', {
        reason: 'NOWPayments sent a status that is not documented',
      })
    }
    if (meaning === 'gone') return { seen: [], gone: [reference] }
    if (meaning === undefined || meaning === 'nothing') return { seen: [], gone: [] }
    const amount = amountOf(told)
    if (amount === 0n) return { seen: [], gone: [] }
    const payment = { reference, amount, at: this.#timeOf(told), isFinal: meaning === 'final' }
    return { seen: [paymentSeen(told.order_id, payment)], gone: [] }
  }

  // When the payer paid is not said; the last change of the payment is the nearest to it.
  #timeOf({ updated_at: told }: Notification): number {
    const now = this.#parts.clock.now()
    const at = told && /^[0-9]{13}$/.test(told) ? Number(told) : Date.parse(told ?? '')
    return at > 0 && at < now ? at : now
  }
}

// Whatever coin it was paid in: the share of what was asked for in that coin is the share of the price.
function amountOf(told: Notification): bigint {
  if (told.price_currency.toLowerCase() !== 'usd') throw new Nonsense('price_currency')
  const price = millionthsOf(told.price_amount)
  if (price <= 0n) throw new Nonsense('price_amount')
  const { pay_amount: asked, actually_paid: paid } = told
  if (asked && asked.digits <= 0n) throw new Nonsense('pay_amount')
  if (paid && paid.digits < 0n) throw new Nonsense('actually_paid')
  const share = asked && paid ? shareOf(paid, asked) : { numerator: 0n, denominator: 1n }
  // A further deposit on the same address names the first. It is rounded up where the first is rounded down, or what was
  // paid in two parts would be short by a millionth.
  if (told.parent_payment_id != null) return partOfRoundedUp(price, share)
  const amount = partOf(price, share)
  // `finished` is the processor's word that it was paid in full, within what the operator tolerates there.
  return told.payment_status === 'finished' && amount < price ? price : amount
}
