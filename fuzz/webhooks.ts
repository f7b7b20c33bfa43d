// The parts that attack the notifications of payment processors: forged ones, and broken ones with the right
// signature.
import { createHmac } from 'node:crypto'
import { parseJson, sortedJson } from '../packages/relay/src/payments/providers/webhook-json.ts'
import {
  BtcPayServer,
  type Notification,
  NowPaymentsServer,
} from '../packages/relay/test/processor-servers.ts'
import { call, type WireAccount, wireAccount } from '../packages/relay/test/wire.ts'
import { INTERNALS } from './http.ts'
import { type Draws, escaped, Finding, type Inputs } from './inputs.ts'
import type { Part } from './part.ts'
import { attackRelay, type Target } from './target.ts'
import { anyBytes, anyValue, heavyJson, mutated } from './values.ts'

const LANES = 4
const ORDERS_AT_ONCE = 8

/** A processor that a relay uses. */
interface Processor extends Disposable {
  /** The statuses of answers to notifications. */
  readonly statuses: readonly number[]
  readonly settings: Readonly<Record<string, string>>
  /** A notification about an order, in a random state. */
  notify(orderId: string, draws: Draws): Notification
  /** Signs a body as the processor does. */
  sign(body: string): Readonly<Record<string, string>>
  /** The order is paid. @returns the notification that says so */
  pay(orderId: string): Notification
}

class NowPayments implements Processor {
  readonly statuses = [200, 400, 401, 413]
  readonly #server = new NowPaymentsServer()
  readonly #payments = new Map<string, ReturnType<NowPaymentsServer['choose']>>()

  get settings() {
    return this.#server.settings
  }

  notify(orderId: string, draws: Draws): Notification {
    const statuses = [
      'waiting',
      'confirming',
      'sending',
      'partially_paid',
      'failed',
      'refunded',
      'expired',
      'odd',
    ]
    return this.#notifyOf(orderId, draws.pick(statuses), draws.next())
  }

  pay(orderId: string): Notification {
    return this.#notifyOf(orderId, 'finished', 1)
  }

  // The signature covers the body with its keys sorted.
  sign(body: string) {
    const text = sortedJson(parseJson(body) ?? body)
    return {
      'x-nowpayments-sig': createHmac('sha512', this.settings.WEBHOOK_SECRET ?? '')
        .update(text)
        .digest('hex'),
    }
  }

  #notifyOf(orderId: string, payment_status: string, part: number): Notification {
    const payment = this.#payments.get(orderId) ?? this.#server.choose(orderId)
    this.#payments.set(orderId, payment)
    Object.assign(payment, { payment_status, part })
    return this.#server.notification(payment)
  }

  [Symbol.dispose](): void {
    this.#server[Symbol.dispose]()
  }
}

class BtcPay implements Processor {
  /** 503: the processor does not know the invoice, and shall send the notification again. */
  readonly statuses = [200, 400, 401, 413, 503]
  readonly #server = new BtcPayServer()

  get settings() {
    return this.#server.settings
  }

  notify(orderId: string, draws: Draws): Notification {
    const invoice = this.#server.invoiceOf(orderId)
    if (draws.chance(0.5)) this.#server.pay(invoice, 'Processing')
    else invoice.status = draws.pick(['New', 'Expired', 'Invalid'])
    const types = [
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoiceExpired',
      'InvoiceInvalid',
      'Odd',
    ]
    return this.#server.notification(invoice, draws.pick(types))
  }

  pay(orderId: string): Notification {
    const invoice = this.#server.invoiceOf(orderId)
    this.#server.pay(invoice, 'Settled')
    return this.#server.notification(invoice, 'InvoiceSettled')
  }

  sign(body: string) {
    const digest = createHmac('sha256', this.settings.WEBHOOK_SECRET ?? '')
      .update(body)
      .digest('hex')
    return { 'btcpay-sig': `sha256=${digest}` }
  }

  [Symbol.dispose](): void {
    this.#server[Symbol.dispose]()
  }
}

function webhooks(name: string, title: string, make: () => Processor): Part {
  return {
    name,
    means: `notifications of ${title}: forged ones, and broken ones with the right signature`,
    share: 1,
    run: async (inputs, engine) => {
      using processor = make()
      const settings = {
        ...processor.settings,
        PUBLIC_URL: 'https://relay.example',
        LIMIT_PENDING_ORDERS: '1000',
      }
      return await attackRelay(inputs, { engine, settings }, (target) => attack(inputs, target, processor))
    },
  }
}

export const nowPayments = webhooks('nowpayments', 'NOWPayments', () => new NowPayments())
export const btcPay = webhooks('btcpay', 'BTCPay Server', () => new BtcPay())

async function attack(inputs: Inputs, { url }: Target, processor: Processor): Promise<void> {
  const buyer = await wireAccount(url)
  const orders: string[] = []
  await inputs.inLanes(LANES, async (index, draws) => {
    if (orders.length < ORDERS_AT_ONCE) orders.push(await placeOrder(buyer, index))
    const order = draws.pick(orders)
    const made = broken(processor.notify(order, draws), processor, draws)
    inputs.sending(index, `${JSON.stringify(made.headers)} ${Buffer.from(made.body).toString()}`)
    const answer = await call(`${url}/payments/webhook`, {
      method: 'POST',
      headers: made.headers,
      body: made.body,
    })
    inputs.answered(answer.status)
    const isExpected = processor.statuses.includes(answer.status)
    if (!isExpected || INTERNALS.test(answer.text))
      throw new Finding(
        `status ${answer.status} to input ${index}: ${answer.text}\n${escaped(Buffer.from(made.body).toString())}`,
      )
    // From time to time an order is paid, whatever was said of it before.
    if (!draws.chance(0.01)) return
    orders.splice(orders.indexOf(order), 1)
    await expectPaid(buyer, order, processor)
  })
}

async function placeOrder(buyer: WireAccount, index: number): Promise<string> {
  const alias_id = `fuzz_${index}_${crypto.randomUUID().slice(0, 8)}`.slice(0, 32)
  const { status, body, text } = await buyer.post('/vanity/purchase', { alias_id })
  if (status !== 200) throw new Finding(`an order was refused with ${status}: ${text}`)
  return body.order_id
}

async function expectPaid(buyer: WireAccount, order: string, processor: Processor): Promise<void> {
  const { body, headers } = processor.pay(order)
  const told = await call(buyer.api('').replace('/api/v1', '/payments/webhook'), {
    method: 'POST',
    headers,
    body,
  })
  const { status } = (await call(buyer.api(`/vanity/order/${order}/status`))).body
  if (told.status !== 200 || status !== 'confirmed')
    throw new Finding(`a paid order is ${status}, told with ${told.status}`)
}

interface Made {
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array<ArrayBuffer>
}

function broken({ body, headers }: Notification, processor: Processor, draws: Draws): Made {
  const dice = draws.next()
  const signed = (text: string): Made => ({ headers: { ...processor.sign(text) }, body: text })
  if (dice < 0.15) return { headers: { ...headers }, body }
  if (dice < 0.35) return signed(withOneWrong(body, draws))
  if (dice < 0.5) return signed(mutated(body, draws).toWellFormed())
  if (dice < 0.55) return signed(draws.of(heavyJson))
  if (dice < 0.65) return { headers: { ...headers }, body: mutated(body, draws) }
  if (dice < 0.75) return { headers: { ...headers }, body: Uint8Array.from(draws.of(anyBytes)) }
  const [name = '', signature = ''] = Object.entries(headers)[0] ?? []
  const changed = mutated(signature, draws)
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
  return { headers: draws.chance(0.2) ? {} : { [name]: changed }, body }
}

/** One value, at any depth, is something else. The order and the payment may still be right. */
function withOneWrong(body: string, draws: Draws): string {
  const value: unknown = JSON.parse(body)
  const places: [object, string][] = []
  const find = (within: unknown): void => {
    if (typeof within !== 'object' || within === null) return
    for (const [key, inner] of Object.entries(within)) {
      places.push([within, key])
      find(inner)
    }
  }
  find(value)
  const [within, key] = draws.pick(places)
  const wrong = draws.chance(0.4)
    ? draws.pick(['1e99', '-1', '0', '9'.repeat(80), '0.000000000000000000001', 1e308, -5, 1.5])
    : draws.of(anyValue)
  Reflect.set(within, key, wrong)
  return JSON.stringify(value)
}
