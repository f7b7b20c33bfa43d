// The interface of a payment processor: it opens an invoice for an order, and reports payments in signed
// notifications.
import type { OrderId } from '@sotto/protocol'
import { ProtocolError } from '@sotto/protocol'
import * as v from 'valibot'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { OrderToOpen, PaymentSeen } from '../provider.ts'
import { type BoundedRequest, isConfidential, request, Unreachable } from './bounded-request.ts'
import { parseJson } from './webhook-json.ts'

/** The adapter of one processor. */
export interface Processor {
  /** The value of the setting `WEBHOOK_PROCESSOR`. References begin with it. */
  readonly name: string
  /** The largest body of a notification. */
  readonly mostBodyBytes: number
  /** Opens an invoice. @throws Unreachable */
  open(order: OrderToOpen): Promise<Opened>
  /** The signature in a notification's headers; undefined if there is none or it is malformed. */
  signatureOf(headers: Headers): string | undefined
  /** The text that the processor signed; undefined if the signature is wrong. Only this text is ever read. */
  signedText(body: Uint8Array, signature: string): string | undefined
  /**
   * The report in a signed notification. @throws InvalidReport, or Unreachable if the processor had to be
   * requested
   */
  read(signed: string): Promise<Report>
  /** The report on an invoice or payment, by its name. @throws InvalidReport, Unreachable */
  lookUp(name: string): Promise<Report>
}

/** An invoice. */
export interface Opened {
  /** The page to pay on. */
  readonly page: string
  /** The name for {@link Processor.lookUp}, if the invoice can be looked up. */
  readonly name?: string
}

/** What a processor reports on an order's payments. */
export interface Report {
  readonly seen: readonly PaymentSeen[]
  /** References of payments that came to nothing. */
  readonly gone: readonly string[]
  /** What to poll from now on. */
  readonly ask?: { readonly name: string; readonly orderId: OrderId }
}

/** The report comes from the processor, but its content is not valid. */
export class InvalidReport extends Error {
  override readonly name = 'InvalidReport'
}

/** The processor's answer cannot be used. A repeated request would get the same answer. */
export class UnusableAnswer extends Unreachable {}

/** The configuration of a processor. */
export interface ProcessorConfig {
  readonly apiUrl: string
  readonly apiKey: string
  readonly secret: string
  /** For BTCPay Server. */
  readonly store: string
  /** The URL for notifications. */
  readonly callbackUrl: string
}

/** The parts that processors need. */
export interface ProcessorParts {
  readonly clock: Clock
  readonly log: Log
  /** Aborts running requests when the relay stops. */
  readonly stopping: AbortSignal
}

/** The asset of all amounts: millionths of a US dollar, which count one to one as the stablecoin. */
export const ASSET = 'usdt'
export const DECIMALS = 6

const MOST_REPLY_BYTES = 262_144
/** Statuses of temporary problems: with the key, the rate, or the processor itself. */
const PASSING = [401, 403, 408, 429]

/**
 * Sends a request to the processor and checks the answer. @throws Unreachable, or UnusableAnswer, which
 * extends it
 */
export async function ask<T>(
  url: string,
  asked: Pick<BoundedRequest, 'method' | 'headers' | 'body' | 'signal'>,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const { status, text } = await request(url, {
    ...asked,
    headers: { 'content-type': 'application/json', ...asked.headers },
    mostBytes: MOST_REPLY_BYTES,
  })
  if (status < 200 || status > 299) {
    const refusal = `it answered with status ${status}`
    throw status < 500 && !PASSING.includes(status) ? new UnusableAnswer(refusal) : new Unreachable(refusal)
  }
  const { success, output } = v.safeParse(schema, parseJson(text))
  if (!success) throw new UnusableAnswer('its answer is not as documented')
  return output
}

/** Parses a signed notification. @throws InvalidReport */
export function readNotification<T>(schema: v.GenericSchema<unknown, T>, body: string): T {
  const { success, issues, output } = v.safeParse(schema, parseJson(body))
  if (!success) throw new InvalidReport(v.getDotPath(issues[0]) ?? 'the body')
  return output
}

/**
 * A payment page of the processor. It must be https, so that nobody on the network can change what buyers
 * pay.
 */
export const HostedPage = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.check((text) => URL.canParse(text) && isConfidential(new URL(text))),
)

/** A payment in the ledger's form. */
export function paymentSeen(
  orderId: OrderId,
  payment: Pick<PaymentSeen, 'reference' | 'amount' | 'at' | 'isFinal'>,
): PaymentSeen {
  return { ...payment, scope: 'webhook', for: { orderId }, asset: ASSET }
}

/** The error for a buyer if the processor cannot be reached. It never quotes the processor. */
export function unavailable(error: unknown, log: Log): ProtocolError {
  if (!(error instanceof Unreachable)) throw error
  log.warn('payment_processor_unreachable', { reason: error.message })
  return new ProtocolError('PAYMENTS_UNAVAILABLE')
}
