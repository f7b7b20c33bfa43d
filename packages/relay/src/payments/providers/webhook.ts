// Payments through a processor that sends notifications: the part that all processors share
// (docs/operations/payments.md).

import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { addressBelow } from '../../operations/public-url.ts'
import { SettingError } from '../../operations/setting-error.ts'
import type { PaymentSettingText } from '../payment-settings.ts'
import type {
  Callback,
  Destination,
  Ledger,
  OrderToOpen,
  PaymentMethod,
  PaymentProvider,
} from '../provider.ts'
import { interfaceUrlOf, readBytes, Unreachable } from './bounded-request.ts'
import { BtcPay } from './btcpay.ts'
import { NowPayments } from './nowpayments.ts'
import { keepReference, Polling, type PollingPace, pollingPace } from './webhook-polling.ts'
import {
  ASSET,
  DECIMALS,
  InvalidReport,
  type Processor,
  type Report,
  unavailable,
} from './webhook-processor.ts'

const processors = {
  nowpayments: { make: NowPayments, title: 'NOWPayments', apiUrl: 'https://api.nowpayments.io' },
  btcpay: { make: BtcPay, title: 'BTCPay Server', apiUrl: '' },
} as const

/** The configuration of the provider. */
export interface WebhookConfig {
  readonly processor: keyof typeof processors
  readonly apiUrl: string
  readonly apiKey: string
  readonly secret: string
  /** Empty if the processor has no stores. */
  readonly store: string
}

const CALLBACK = 'webhook'
/** How long a notification may take to arrive. */
const DELAY_MS = 120_000
/** After a start of the relay, processors repeat lost notifications within this time. */
const REPEATED_WITHIN_MS = 600_000
const WARN_EVERY_MS = 60_000

/** @throws SettingError */
export function webhookConfigOf(text: PaymentSettingText): WebhookConfig {
  const name = text('WEBHOOK_PROCESSOR')
  if (name !== 'nowpayments' && name !== 'btcpay')
    throw new SettingError('WEBHOOK_PROCESSOR', 'one of nowpayments, btcpay')
  const given = (setting: 'WEBHOOK_API_KEY' | 'WEBHOOK_SECRET' | 'WEBHOOK_STORE', what: string): string => {
    if (!/^[\x21-\x7e]{1,500}$/.test(text(setting))) throw new SettingError(setting, what)
    return text(setting)
  }
  return {
    processor: name,
    apiUrl: interfaceUrlOf('WEBHOOK_API_URL', text('WEBHOOK_API_URL') || processors[name].apiUrl),
    apiKey: given('WEBHOOK_API_KEY', 'the key the processor gave you, without spaces'),
    secret: given('WEBHOOK_SECRET', 'the secret the processor signs its notifications with, without spaces'),
    store: name === 'btcpay' ? given('WEBHOOK_STORE', 'the id of the store') : '',
  }
}

/** Opens an invoice for each order, and records the payments in the processor's signed notifications. */
export class WebhookPayments implements PaymentProvider {
  readonly name = 'webhook'
  readonly methods: readonly PaymentMethod[]
  readonly callback: Callback = { name: CALLBACK, answer: (request) => this.#answer(request) }
  readonly #processor: Processor
  readonly #clock: Clock
  readonly #log: Log
  readonly #pace: PollingPace
  readonly #stopping = new AbortController()
  #ledger: Ledger | undefined
  #polling: Polling | undefined
  #startedAt = Number.POSITIVE_INFINITY
  #warnedAt = Number.NEGATIVE_INFINITY

  /**
   * @param publicUrl the address at which the processor reaches the relay
   * @throws SettingError if it is undefined
   */
  constructor(
    config: WebhookConfig,
    publicUrl: URL | undefined,
    parts: { clock: Clock; log: Log; pace?: PollingPace },
  ) {
    if (!publicUrl)
      throw new SettingError('PUBLIC_URL', 'set, so that the payment processor can send notifications')
    const network = processors[config.processor].title
    this.methods = [{ asset: ASSET, symbol: 'USDT', decimals: DECIMALS, network }]
    const callbackUrl = addressBelow(publicUrl, `/payments/${CALLBACK}`)
    const stopping = this.#stopping.signal
    this.#processor = new processors[config.processor].make(
      { ...config, callbackUrl },
      { ...parts, stopping },
    )
    this.#clock = parts.clock
    this.#log = parts.log
    this.#pace = parts.pace ?? pollingPace
  }

  isAvailable(): boolean {
    return this.#ledger !== undefined && this.#polling?.isReachable !== false
  }

  async open(order: OrderToOpen): Promise<Destination> {
    try {
      const { page, name } = await this.#processor.open(order)
      // Stored before the buyer gets the page, so that every payment there can be polled.
      if (name !== undefined)
        await this.#record({ seen: [], gone: [], ask: { name, orderId: order.orderId } })
      const amount = BigInt(order.price) * 10n ** BigInt(DECIMALS)
      return { payTo: page, asset: ASSET, amount, hostedPage: page }
    } catch (error) {
      throw unavailable(error, this.#log)
    }
  }

  async start(ledger: Ledger): Promise<void> {
    this.#ledger = ledger
    this.#startedAt = this.#clock.monotonic()
    const record = (report: Report) => this.#record(report)
    const parts = { ledger, record, processor: this.#processor, clock: this.#clock, log: this.#log }
    this.#polling = new Polling({ ...parts, pace: this.#pace }, this.#stopping.signal)
  }

  // Notifications reach any node. Only one asks for those that were lost.
  async follow(ledger: Ledger): Promise<void> {
    this.#ledger = ledger
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#polling?.stopped
    this.#ledger = undefined
  }

  seenUntil(now: number): number {
    const isSettled = this.#clock.monotonic() - this.#startedAt >= REPEATED_WITHIN_MS
    return isSettled ? Math.min(now, this.#polling?.completeUntil ?? 0) - DELAY_MS : 0
  }

  async #answer(request: Request): Promise<Response> {
    // Anybody can send requests here. The form of the signature and the size are checked before the body is
    // read; the signature is checked before anything else is done with the body.
    const signature = this.#processor.signatureOf(request.headers)
    if (signature === undefined) return this.#refuseUnsigned()
    const body = await readBody(request, this.#processor.mostBodyBytes)
    if (body === undefined) return new Response(null, { status: 413 })
    const signed = this.#processor.signedText(body, signature)
    if (signed === undefined) return this.#refuseUnsigned()
    try {
      const isKnown = await this.#record(await this.#processor.read(signed))
      if (!isKnown) this.#warn('it is for an order that is not known')
      return new Response(null, { status: 200 })
    } catch (error) {
      // The processor repeats a notification after any status but 200.
      if (error instanceof InvalidReport)
        return this.#refuse(400, `its content is not valid: ${error.message}`)
      if (error instanceof Unreachable)
        return this.#refuse(503, `the processor could not be reached: ${error.message}`)
      throw error
    }
  }

  /**
   * Records a report. Resolves after the commit is on stable storage, because the processor never repeats an
   * acknowledged notification.
   * @returns false if the order is not known
   * @throws Unreachable while the ledger is not available
   */
  async #record({ seen, gone, ask }: Report): Promise<boolean> {
    if (seen.length + gone.length === 0 && !ask) return true
    if (!this.#ledger) throw new Unreachable('the relay is only starting, or stopping')
    const now = this.#clock.now()
    return await this.#ledger.transaction(async (entries, sql) => {
      let isKnown = true
      for (const reference of gone) await entries.retract(reference)
      for (const payment of seen) isKnown = (await entries.record(payment)) && isKnown
      if (ask) {
        const reference = `${this.#processor.name}/${ask.name}`
        await keepReference(sql, { reference, orderId: ask.orderId, now })
      }
      return isKnown
    })
  }

  #refuse(status: number, reason: string): Response {
    this.#warn(reason)
    return new Response(null, { status })
  }

  // Anybody can send unsigned requests, and they must not fill the log.
  #refuseUnsigned(): Response {
    const now = this.#clock.monotonic()
    if (now - this.#warnedAt >= WARN_EVERY_MS) {
      this.#warnedAt = now
      this.#warn('its signature is missing or wrong; if it was the processor’s, look at WEBHOOK_SECRET')
    }
    return new Response(null, { status: 401 })
  }

  #warn(reason: string): void {
    this.#log.warn('payment_notification_refused', { reason })
  }
}

async function readBody(request: Request, mostBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) return undefined
  try {
    return await readBytes(request.body, mostBytes)
  } catch {
    return new Uint8Array() // The client disconnected; an empty body has no valid signature.
  }
}
